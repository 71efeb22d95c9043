@testable import ExportReading
import Exports
import TestSupport
import Testing
import WatchwordCryptography

@Suite("Hostile XML")
struct HostileXMLTests {
    private static func read(_ text: String, _ limits: XMLLimits = XMLLimits()) throws -> XMLElement
    {
        try readXML(SecretBytes(text: text), limits: limits)
    }

    private static func token(_ name: String) -> String {
        #"<string name="tokenOrder">[]</string><string name="a">\#(name)</string>"#
    }

    @Test(
        "a document type is refused",
        arguments: [
            // Entities that grow exponentially.
            #"<!DOCTYPE map [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>"#,
            #"<!DOCTYPE map [<!ENTITY a SYSTEM "file:///etc/passwd">]>"#,
            #"<!DOCTYPE map SYSTEM "http://127.0.0.1:9/map.dtd">"#,
            #"<!DOCTYPE map [<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;]>"#,
            "<!DOCTYPE map>", "<!doctype html>",
        ])
    func documentType(type: String) throws {
        for start in ["", #"<?xml version="1.0"?>"#, "<!-- > -->"] {
            let text = "\(start)\(type)<map>\(Self.token("&a;"))</map>"
            #expect(throws: ContainerError.documentType) { try Self.read(text) }
            let reading = try ConfinedReading(Array(text.utf8), mebibytes: 256)
            #expect(reading.status == 0)
            #expect(reading.answer.hasPrefix("damaged"))
        }
    }

    @Test("the five predefined entities become characters, and any other entity is refused")
    func entities() throws {
        #expect(throws: ContainerError.damaged) { try Self.read("<a>&b;</a>") }
        #expect(throws: ContainerError.damaged) { try Self.read("<a b='&c;'/>") }
        let element = try Self.read(
            "<a b='&amp;#38;&lt;&#38;x'>&amp;lt;&gt;&#x41;<![CDATA[&b;]]></a>")
        #expect(element.string == "&lt;>A&b;")
        #expect(element.attributeString("b") == "&#38;<&x")
    }

    @Test("depth, elements, attributes and length are limited")
    func limits() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        }
        #expect(try Self.read(nested(64)).name == "a")
        #expect(throws: ContainerError.overLimit(.depth, found: 65, allowed: 64)) {
            try Self.read(nested(65))
        }
        let deep = try ConfinedReading(Array(nested(500_000).utf8), mebibytes: 256)
        #expect(deep.answer.contains("depth, found: 65, allowed: 64"))

        let three = XMLLimits(elements: 3)
        #expect(try Self.read("<a><b/><b/></a>", three).children.count == 2)
        #expect(throws: ContainerError.overLimit(.rows, found: 4, allowed: 3)) {
            try Self.read("<a><b/><b/><b/></a>", three)
        }

        func attributes(_ count: Int) -> String {
            "<a \((0..<count).map { "b\($0)='>'" }.joined(separator: " "))/>"
        }
        #expect(try Self.read(attributes(256)).attributes.count == 256)
        #expect(throws: ContainerError.overLimit(.rows, found: 257, allowed: 256)) {
            try Self.read(attributes(257))
        }
        let wide = try ConfinedReading(Array(attributes(200_000).utf8), mebibytes: 256)
        #expect(wide.duration < .seconds(20))

        #expect(throws: ContainerError.overLimit(.documentSize, found: 4, allowed: 3)) {
            try Self.read("<a/>", XMLLimits(bytes: 3))
        }
        let long = String(repeating: "x", count: 12 << 20)
        #expect(try Self.read("<a>\(long)</a>").text.count == 12 << 20)
    }

    @Test("text that is not UTF-8 is refused, and a different declared encoding is ignored")
    func encodings() throws {
        let wide = Array("<a>x</a>".utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] })
        #expect(throws: ContainerError.notUTF8) { try readXML(SecretBytes(copying: wide.span)) }
        let declared = #"<?xml version="1.0" encoding="ISO-2022-JP"?><map>é</map>"#
        #expect(try Self.read(declared).string == "é")
        // Converters would be loaded from files.
        #expect(try ConfinedReading(Array(declared.utf8)).status == 0)
        #expect(throws: ContainerError.notUTF8) {
            try readXML(
                SecretBytes(copying: (Array("<a>".utf8) + [0xE9] + Array("</a>".utf8)).span))
        }
    }

    @Test("text that is not well-formed is refused, and the parser prints no message")
    func notWellFormed() throws {
        for text in [
            "", " ", "<", "<a", "<a>", "<a></b>", "<a/><b/>", "<a b=c/>", "x<a/>", "<a/>x",
        ] {
            #expect(throws: ContainerError.damaged) { try Self.read(text) }
            let reading = try ConfinedReading(Array(text.utf8))
            #expect(reading.status == 0)
        }
    }
}
