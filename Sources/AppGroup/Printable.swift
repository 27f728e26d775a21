import Platform

/// Quotes untrusted text for a message: without control characters, and limited in length.
func printable(_ text: String, limit: Int = 200) -> String {
  let shown = String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit))).plain
  return "“" + shown + (text.unicodeScalars.count > limit ? "…”" : "”")
}
