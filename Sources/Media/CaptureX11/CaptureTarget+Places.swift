#if Media
  import CXCB
  import FrameBus

  /// Where windows of other clients lie on the target.
  extension CaptureTarget {
    /// The windows that are shown, with their frames.
    func places(
      of windows: Set<XWindow>, in tree: WindowTree
    ) throws(ScreenError) -> [XWindow: PixelRect] {
      var places: [XWindow: PixelRect] = [:]
      var rest = Array(windows)
      while !rest.isEmpty {
        let windows = rest.suffix(XWindow.batch)
        rest.removeLast(windows.count)
        let asked = windows.map { $0.askBounds(on: window, connection) }
        for (window, question) in zip(windows, asked) {
          guard let area = try XWindow.bounds(question, connection) else { continue }
          places[window] = tree.relations[window]?.framed(area) ?? area
        }
      }
      return places
    }

    /// - Parameter passed: an area of each window, in its own pixels.
    func areas(_ passed: [XWindow: PixelRect]) throws(ScreenError) -> [PixelRect] {
      var areas: [PixelRect] = []
      var rest = Array(passed)
      while !rest.isEmpty {
        let parents = rest.suffix(XWindow.batch)
        rest.removeLast(parents.count)
        let asked = parents.map { $0.key.askOrigin(on: window, connection) }
        for (parent, question) in zip(parents, asked) {
          guard let (x, y) = try XWindow.origin(question, connection) else { continue }
          let area = parent.value
          areas.append(
            PixelRect(x: area.x + x, y: area.y + y, width: area.width, height: area.height))
        }
      }
      return areas
    }

    /// Asks the programs of the windows that lie in some areas to draw them again, as xrefresh(1)
    /// does. The server itself draws the background of a window that has one.
    /// - Returns: whether there is such a window.
    func requestDrawing(
      of windows: Set<XWindow>, in areas: [PixelRect]
    ) throws(ScreenError) -> Bool {
      var rest = Array(windows)
      var requestCount = 0
      // The rest is asked the next time.
      while !rest.isEmpty, requestCount < Self.maximumRequestCount {
        let windows = rest.suffix(XWindow.batch)
        rest.removeLast(windows.count)
        let asked = windows.map { $0.askBounds(on: window, connection) }
        for (window, question) in zip(windows, asked) {
          guard let inside = try XWindow.interior(question, connection) else { continue }
          for area in areas {
            let area = area.intersection(inside)
            if area.isEmpty { continue }
            requestCount += 1
            window.requestDrawing(
              PixelRect(
                x: area.x - inside.x, y: area.y - inside.y, width: area.width,
                height: area.height),
              by: connection)
          }
        }
      }
      connection.flush()
      return requestCount > 0
    }

    private static let maximumRequestCount = 1000
  }
#endif
