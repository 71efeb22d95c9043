import Foundation
import JSONReading
import TestSupport
import Testing
import WatchwordCoding
import WatchwordCryptography

@testable import VerificationService

struct OpenAPITests {
    private let document = OpenAPIDocument.json

    /// Resolves a reference within the document.
    private func resolved(_ value: JSONValue?) throws -> JSONValue {
        guard let reference = value?["$ref"]?.string else { return try #require(value) }
        var found = document
        for part in reference.split(separator: "/").dropFirst() {
            found = try #require(found[String(part)], "\(reference)")
        }
        return found
    }

    @Test("the document passes the strict JSON reader, so it has no duplicate names")
    func readable() throws {
        let written = document.rendered()
        let read = try readJSON(written, limits: JSONLimits(bytes: 1 << 20, depth: 32))
        #expect(read.rendered().text == written.text)
        #expect(read["openapi"]?.string == "3.1.0")
        #expect(Service.interfaceDescription().text == written.text)
    }

    @Test("the document describes every route with its scope, parameters and statuses")
    func routes() throws {
        var described = 0
        for (_, item) in try #require(document["paths"]?.members) {
            described += try #require(item.members).count
        }
        #expect(described == RouteTable.all.count)
        #expect(Set(RouteTable.all.map(\.operation.id)).count == described)
        for route in RouteTable.all {
            let item = try #require(document["paths"]?[route.template])
            let operation = try #require(item[route.method.rawValue.lowercased()])
            #expect(operation["operationId"]?.string == route.operation.id)
            let statuses = try #require(operation["responses"]?.members).map(\.0)
            let expected =
                Set(route.allProblems.map(\.status.rawValue)).union([
                    route.responses.success.status.rawValue
                ])
            #expect(Set(statuses) == Set(expected.map { "\($0)" }), "\(route.template)")
            let security = try #require(operation["security"]?.elements)
            switch route.access {
            case .scope: #expect(security.count == 1)
            case .device, .unprovenDevice, .browser, .everybody: #expect(security.isEmpty)
            }
            #expect((operation["requestBody"] != nil) == (route.body != nil))
        }
    }

    @Test("the schema of an import requires at least one of the fields that only an import has")
    func imports() throws {
        let schemas = try #require(document["components"]?["schemas"])
        let absent = schemas["TimeBasedImport"]?["not"]?["allOf"]?.elements
        let names = absent?.compactMap { $0["not"]?["required"]?.elements?.first?.string }
        #expect(names == ["last_used_step", "confirmed"])
        #expect(schemas["TimeBasedEnrolment"]?["not"] == nil)
        let required = schemas["TimeBasedShortKeyImport"]?["required"]?.elements
        #expect(required?.compactMap(\.string) == ["type", "key", "allow_short_key"])
        #expect(schemas["TimeBasedShortKeyImport"]?["not"] == nil)
    }

    @Test("each operation has the tag of its group, and each tag has a description")
    func tags() throws {
        let tags = try #require(document["tags"]?.elements)
        #expect(tags.compactMap { $0["name"]?.string } == RouteTable.groups.map(\.name))
        #expect(tags.allSatisfy { $0["description"]?.string?.hasSuffix(".") == true })
        for group in RouteTable.groups {
            for route in group.routes {
                let operation = document["paths"]?[route.template]?[
                    route.method.rawValue.lowercased()]
                #expect(operation?["tags"]?.elements?.map(\.string) == [group.name])
            }
        }
    }

    @Test("the example of each request and response has the shape that its name states")
    func examples() throws {
        for route in RouteTable.all {
            let operation = document["paths"]?[route.template]?[route.method.rawValue.lowercased()]
            let status = "\(route.responses.success.status.rawValue)"
            for (place, shapes) in [
                (operation?["requestBody"], route.body?.shapes ?? []),
                (operation?["responses"]?[status], route.responses.shapes),
            ] {
                let examples = place?["content"]?["application/json"]?["examples"]
                for shape in shapes {
                    let example = try #require(examples?[shape.name]?["value"])
                    _ = try BodyFields(example.rendered(), as: .one(shape))
                }
                #expect((examples?.members ?? []).count == shapes.count)
            }
        }
    }

    @Test(
        "the examples have the values that API.md shows",
        arguments: [
            "alice", "Mill", "phone", "carol@mill.example", "mill.example", "492039",
            "https://login.example", "Pay 120.00 EUR to Paper Mill",
        ])
    func exampleValues(_ value: String) throws {
        let page = PackageFolder.root.appending(
            path: "Sources/Server/VerificationService/API.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        #expect(document.rendered().text.contains("\"\(value)\""))
        #expect(text.contains(value))
    }

    @Test("the description of each optional field of a response states when it is absent")
    func optionalFields() {
        let unexplained = RouteTable.all.flatMap(\.responses.shapes).flatMap { shape in
            Self.nested(shape).flatMap(\.fields).filter { !$0.isRequired && $0.note == nil }
                .map { "\(shape.name).\($0.name)" }
        }
        #expect(unexplained == [])
    }

    /// The schema of the shape and the schemas of its objects.
    private static func nested(_ shape: Shape) -> [Shape] {
        [shape]
            + shape.fields.flatMap { field -> [Shape] in
                switch field.kind {
                case .object(let inner), .list(.object(let inner), _): nested(inner)
                default: []
                }
            }
    }

    @Test(
        "P-01 the document describes every problem of every route, as application/problem+json")
    func problems() throws {
        for route in RouteTable.all {
            let responses = document["paths"]?[route.template]?[
                route.method.rawValue.lowercased()]?[
                    "responses"]
            for problem in route.allProblems {
                let response = try resolved(responses?["\(problem.status.rawValue)"])
                let content = response["content"]?["application/problem+json"]
                #expect(content?["schema"]?["$ref"]?.string == "#/components/schemas/Problem")
                let example = try #require(content?["examples"]?[problem.name]?["value"])
                #expect(example["type"]?.string == problem.type)
                #expect(example["status"]?.wholeNumber == UInt64(problem.status.rawValue))
                let known = document["components"]?["schemas"]?["Problem"]?["properties"]
                #expect((example.members ?? []).allSatisfy { known?[$0.0] != nil })
            }
        }
    }

    @Test("P-02 Retry-After is documented for 429 and 503, and sent with them")
    func retryAfter() throws {
        for problem in [Problem.tooManyRequests(retryAfter: 3), .unavailable, .keyUnavailable] {
            #expect(problem.headers.contains { $0.name == "Retry-After" && Int($0.value) != nil })
            let response = document["components"]?["responses"]?[
                "Problem\(problem.status.rawValue)"]
            #expect(response?["headers"]?["Retry-After"] != nil)
        }
        #expect(
            document["components"]?["responses"]?["Problem400"]?["headers"]?["Retry-After"] == nil)
    }

    @Test("P-03 no-store is documented for every response")
    func noStore() throws {
        let header = document["components"]?["headers"]?["Cache-Control"]
        #expect(header?["schema"]?["const"]?.string == "no-store")
        for (_, item) in try #require(document["paths"]?.members) {
            for (_, operation) in try #require(item.members) {
                for (_, response) in try #require(operation["responses"]?.members) {
                    #expect(try resolved(response)["headers"]?["Cache-Control"] != nil)
                }
            }
        }
    }

    @Test(
        "P-04 all objects but those of browsers reject unknown fields, and list the required ones")
    func closed() throws {
        for (name, schema) in try #require(document["components"]?["schemas"]?.members) {
            let isOpen = [
                "CreatedPasskey", "CreatedData", "SignedPasskey", "SignedData",
            ].contains(name)
            #expect(schema["additionalProperties"]?.truth == isOpen, "\(name)")
            let properties = try #require(schema["properties"]?.members).map(\.0)
            let required = try #require(schema["required"]?.elements).compactMap(\.string)
            #expect(Set(required).isSubset(of: properties), "\(name)")
        }
        for route in RouteTable.all {
            for shape in (route.body?.shapes ?? []) + route.responses.shapes {
                let schema = try #require(document["components"]?["schemas"]?[shape.name])
                #expect(
                    schema["required"]?.elements?.compactMap(\.string)
                        == shape.fields.filter(\.isRequired).map(\.name))
            }
        }
    }

    @Test(
        "an independent validator accepts the document",
        .enabled(
            if: ForeignProgram("openapi-spec-validator") != nil,
            "openapi-spec-validator (PyPI) is not in the PATH"))
    func foreignValidator() throws {
        let folder = try TemporaryFolder()
        let text = document.rendered().text
        let path = try folder.write(Array(text.utf8), to: "openapi.json")
        let validator = try #require(ForeignProgram("openapi-spec-validator"))
        let outcome = try validator.run([path])
        #expect(outcome.status == 0, "\(outcome.text)")
    }

    @Test("every reference resolves")
    func references() throws {
        func walk(_ value: JSONValue) throws {
            if value["$ref"] != nil { _ = try resolved(value) }
            for (_, member) in value.members ?? [] { try walk(member) }
            for element in value.elements ?? [] { try walk(element) }
        }
        try walk(document)
    }
}
