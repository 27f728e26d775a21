import Platform

/// Text of unknown origin as a message quotes it: plain, and limited in length.
func printable(_ text: String, limit: Int = 200) -> String {
  let shown = String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit))).plain
  return "“" + shown + (text.unicodeScalars.count > limit ? "…”" : "”")
}
