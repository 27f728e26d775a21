import Glibc

/// Of an angle in radians.
package func sine(_ angle: Double) -> Double { Glibc.sin(angle) }
/// Of an angle in radians.
package func cosine(_ angle: Double) -> Double { Glibc.cos(angle) }
/// The natural logarithm.
package func logarithm(_ value: Double) -> Double { Glibc.log(value) }
