import Testing

@testable import Commands

struct NameSkeletonTests {
    @Test(
        "names that look alike have the same skeleton",
        arguments: [
            ("PayPal", "PayРal"), ("paypal", "рауpаl"), ("GitHub", "ＧｉｔＨｕｂ"), ("GitHub", "𝐆𝐢𝐭𝐇𝐮𝐛"),
            ("GitHub", "Git\u{200D}Hub"), ("GitHub", "Git\u{2800}Hub"), ("GitHub", "github"),
            ("GOOGLE", "GΟΟGLE"), ("Apple", "App1e"), ("Apple", "AppIe"), ("Google", "G00gle"),
            ("a b", "a\u{A0}b"), ("a b", "a  b"), ("a", "a\u{3000}"), ("a-b", "a\u{2010}b"),
            ("a-b", "a\u{2212}b"), ("a.b", "a\u{2024}b"), ("a:b", "a\u{2236}b"),
            ("ab", "a\u{16FE4}b"), ("é", "e\u{301}"),
            ("ⓖit", "git"), ("ʰost", "host"), ("ℂode", "code"),
        ])
    func alike(_ one: String, _ other: String) {
        #expect(NameSkeleton(one) == NameSkeleton(other))
    }

    @Test(
        "distinguishable names have different skeletons",
        arguments: [
            ("GitHub", "GitLab"), ("José", "Jose"), ("Иван", "Ivan"), ("山田", "山本"), ("a b", "ab"),
            ("user2", "user3"), ("GitHub:a", "GitHub:b"), ("🔑", "🔒"),
        ])
    func apart(_ one: String, _ other: String) {
        #expect(NameSkeleton(one) != NameSkeleton(other))
    }
}
