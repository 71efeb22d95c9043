-- For wrk: each request is the next line of a file, so that each code is used once.
-- wrk … -s verifications.lua URL -- FILE TOKEN THREADS
local threads = {}

function setup(thread)
   thread:set("number", #threads)
   table.insert(threads, thread)
end

function init(args)
   accepted, others, at = 0, 0, 0
   requests = {}
   local headers = { ["Content-Type"] = "application/json", ["Authorization"] = "Bearer " .. args[2] }
   local line = 0
   for body in io.lines(args[1]) do
      if line % tonumber(args[3]) == number then
         table.insert(requests, wrk.format("POST", "/v1/verifications", headers, body))
      end
      line = line + 1
   end
end

function request()
   at = at + 1
   if at > #requests then
      -- No code is left. Counting this among the other responses fails the run.
      others = others + 1
      at = #requests
   end
   return requests[at]
end

function response(status, headers, body)
   if body:find('"result":"accepted"', 1, true) or body:find('"result": "accepted"', 1, true) then
      accepted = accepted + 1
   else
      others = others + 1
   end
end

function done(summary, latency, all)
   local accepted, others = 0, 0
   for _, thread in ipairs(threads) do
      accepted = accepted + thread:get("accepted")
      others = others + thread:get("others")
   end
   io.write(string.format("accepted %d\nothers %d\nmicroseconds %d\np50 %d\np99 %d\n", accepted, others,
      summary.duration, latency:percentile(50), latency:percentile(99)))
end
