"""Reads the number that the test pattern draws (Sources/Media/Capture/TestPatternMark.swift)."""
COLUMNS, ROWS = 20, 4


def checksum(value):
    crc = 0xFFFF
    for byte in value.to_bytes(8, "big"):
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021) & 0xFFFF if crc & 0x8000 else crc << 1
    return crc


def mark(frame):
    """The number that the test pattern drew into a frame of PyAV's; None without a valid one."""
    value = whole_mark(frame)
    return None if value is None else value >> 32


def whole_mark(frame):
    """The number, and in the low 32 bits the milliseconds of the capture's clock."""
    plane = frame.planes[0]
    return value_of(memoryview(plane), plane.line_size, frame.width, frame.height)


def mark_of(luma, stride, width, height):
    """The same of any picture whose first bytes are its brightness, row by row."""
    value = value_of(luma, stride, width, height)
    return None if value is None else value >> 32


def value_of(luma, stride, width, height):
    side = min(width // (COLUMNS + 2), height // (ROWS + 4))
    bits = 0
    for index in range(ROWS * COLUMNS):
        x = side * (1 + index % COLUMNS) + side // 2
        y = side * (1 + index // COLUMNS) + side // 2
        bits = bits << 1 | (luma[y * stride + x] >= 128)
    value, found = bits >> 16, bits & 0xFFFF
    return value if checksum(value) == found else None


def picture_of(number, milliseconds, width, height):
    """The brightness of a picture with this mark, as bytes."""
    side = min(width // (COLUMNS + 2), height // (ROWS + 4))
    value = (number & 0xFFFF_FFFF) << 32 | milliseconds & 0xFFFF_FFFF
    bits = value << 16 | checksum(value)
    dark = bytes([16]) * width
    rows = [dark] * height
    for row in range(ROWS):
        line = bytearray(dark)
        for column in range(COLUMNS):
            if bits >> (ROWS * COLUMNS - 1 - row * COLUMNS - column) & 1:
                start = side * (1 + column)
                line[start:start + side] = bytes([235]) * side
        rows[side * (1 + row):side * (2 + row)] = [bytes(line)] * side
    return b"".join(rows)
