internal import WatchwordCoding
internal import WatchwordCryptography

extension Service {
    /// Answers a browser's request for a page, or for a file of the pages.
    func answer(
        _ request: HTTPRequest, _ resource: PageResource, _ target: RequestTarget,
        _ exchange: Exchange
    ) throws(Refusal) -> HTTPResponse {
        let methods = [Method.get, .head, .options]
        guard let method = Method(rawValue: request.method), methods.contains(method) else {
            throw limited(Refusal(.methodNotAllowed(methods)), exchange)
        }
        if method == .options { return end(exchange, allowing: methods) }
        if let seconds = limiter.take(exchange.address, now: dependencies.instant()) {
            throw Refusal(.tooManyRequests(retryAfter: seconds))
        }
        do throws(Problem) {
            guard request.body.count == 0 else { throw .malformedBody(at: nil) }
            guard let pages = settings.pages else { throw .unknownRoute }
            let content = try resource.content(query: target.parameters, settings: pages)
            return end(exchange, content, headers: resource.headers)
        } catch {
            throw Refusal(error)
        }
    }
}
