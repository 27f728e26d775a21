"use strict";

const words = {
  connecting: ["waiting", "Connecting", ""],
  waiting: ["waiting", "Waiting for the stream",
    "The picture appears here as soon as its publisher starts."],
  gone: ["lost", "The stream is gone",
    "Its publisher has ended. The picture comes back when it does."],
  paused: ["waiting", "The stream is paused", ""],
  away: ["lost", "No answer from framebus view",
    "It has ended, or this machine cannot reach it. Trying again."],
  full: ["lost", "Too many viewers", "Close another one. Trying again."],
  silent: ["waiting", "Waiting for pictures", "Connected, but no picture has come yet."],
  codec: ["lost", "No codec that this browser plays", ""],
  absent: ["lost", "This page does not show that stream", "Choose another one."],
  refused: ["lost", "Refused by the server", ""],
  unreachable: ["lost", "Cannot reach the server", ""],
  unconnected: ["lost", "No media connection", ""],
  still: ["waiting", "No new picture", ""],
  live: ["live", "Live", ""],
};

// A still screen is sent again every second, so a longer pause means that pictures are missing.
const longestPauseMs = 2500;

/** Why an offer was refused with this status: a key of words. The cause is in the body. */
function refusal(status, isLocal) {
  if (status === 406) return "codec";
  if (status === 503) return "full";
  if (status === 404 && isLocal) return "absent";
  // Of this page's own server: a proxy says that it does not answer.
  if (isLocal && status >= 502) return "away";
  return status === 504 ? "unreachable" : "refused";
}

// The newest figures of this server's own streams; null while it does not answer.
let server = null;

// ?controls=0 for pages that embed this one, and ?stream=NAME.
const query = () => new URLSearchParams(location.search);
document.documentElement.dataset.controls = query().get("controls") ?? "1";

/** An address of this page's server. Browsers refuse requests to one that has a password, as the
    page's own address may have behind a proxy. */
const at = (path) => new URL(path, location.origin + location.pathname);

/** What this browser remembers of a setting; null if it keeps nothing. */
function remembered(key) {
  try { return localStorage.getItem(key); } catch { return null; }
}

function remember(key, value) {
  try { localStorage.setItem(key, value); } catch { /* It need not be remembered. */ }
}

/** A picture, its state and its figures: a WHEP client and what it shows. */
class Card {
  constructor(place) {
    const element = document.querySelector("template").content.firstElementChild.cloneNode(true);
    this.element = element;
    this.path = place.dataset.path;
    this.isLocal = this.path === "whep";
    this.hasSound = place.dataset.sound === "yes";
    this.parts = {};
    for (const part of element.querySelectorAll("[data-part]")) {
      this.parts[part.dataset.part] = part;
    }
    this.video = element.querySelector("video");
    this.first = this.name = place.dataset.name;   // The stream of the path "whep".
    this.others = place.dataset.title.slice(this.first.length);   // Those of the sound.
    if (!this.isLocal) this.text("latency-kind", "Latency, arrival to screen");
    this.parts.figures.open = matchMedia("(min-width: 40rem)").matches;
    this.addSound();
    this.addViews();
    this.parts.choice.onchange = () => {
      const address = new URL(location);
      address.searchParams.set("stream", this.parts.choice.value);
      history.pushState(null, "", address);
      this.choose(this.parts.choice.value);
    };
    this.peer = this.resource = this.retry = null;
    this.forget();
    this.nameCard();
    place.replaceWith(element);
    this.watchPictures();
  }

  /** Forgets what was seen of a stream. */
  forget() {
    this.before = null;
    this.isConnected = false;
    this.newestFrameAt = 0;   // When the newest picture was shown, by performance.now().
    this.delays = [];         // From arrival to screen, of the pictures since the last figures.
    this.refusal = null;      // Why the last attempt to connect failed: a key of words.
    this.reason = "";         // The same in the server's words.
    this.attempts = 0;
  }

  nameCard() {
    const title = this.name + this.others;
    this.text("title", title);
    this.element.setAttribute("aria-label", title);
    this.video.setAttribute("aria-label", `Live picture of ${title}`);
    if (this.isLocal) document.title = `${title} – FrameBus`;
  }

  // Controls. Their names do not change; aria-pressed is their state, and a tooltip what they do.

  addSound() {
    const { mute, volume } = this.parts;
    const before = Number(remembered("volume") ?? 100);
    if (before > 0 && before <= 100) this.video.volume = before / 100;
    const show = () => {
      const { muted } = this.video;
      mute.setAttribute("aria-pressed", String(muted));
      mute.title = muted ? "Turn sound on" : "Turn sound off";
      volume.value = muted ? 0 : Math.round(100 * this.video.volume);
      volume.setAttribute("aria-valuetext", muted ? "Muted" : `${volume.value} %`);
    };
    mute.onclick = () => { this.video.muted = !this.video.muted; };
    volume.oninput = () => {
      const wanted = Number(volume.value);
      this.video.muted = wanted === 0;
      if (wanted) this.video.volume = wanted / 100;
      if (wanted) remember("volume", wanted);
    };
    this.video.onvolumechange = show;
    show();
  }

  addViews() {
    const { inset, full, player } = this.parts;
    const { video } = this;
    const press = (button, isOn) => button.setAttribute("aria-pressed", String(isOn));
    inset.hidden = !(document.pictureInPictureEnabled && video.requestPictureInPicture);
    inset.onclick = () => {
      const isOn = document.pictureInPictureElement === video;
      (isOn ? document.exitPictureInPicture() : video.requestPictureInPicture()).catch(() => {});
    };
    video.onenterpictureinpicture = () => press(inset, true);
    video.onleavepictureinpicture = () => press(inset, false);
    // iPhones show only a video on the full screen.
    full.hidden = !document.fullscreenEnabled && !video.webkitEnterFullscreen;
    full.onclick = () => {
      if (!document.fullscreenEnabled) return video.webkitEnterFullscreen();
      const isOn = document.fullscreenElement === player;
      (isOn ? document.exitFullscreen() : player.requestFullscreen()).catch(() => {});
    };
    document.addEventListener("fullscreenchange",
      () => press(full, document.fullscreenElement === player));
  }

  // The list of the streams that this page may show. Only the first one is always on it.

  showChoices() {
    const running = server?.streams;
    if (!this.isLocal || !running) return;
    const names = [...new Set([this.first, ...running, this.name])];
    const texts = names.map((name) => (running.includes(name) ? name : `${name} (not running)`));
    const { choice } = this.parts;
    if (texts.join() !== [...choice.options].map((option) => option.text).join()) {
      choice.replaceChildren(...names.map((name, index) => new Option(texts[index], name)));
    }
    choice.hidden = names.length < 2;
    if (choice.value !== this.name) choice.value = this.name;
  }

  /** Shows another stream in place of the present one. */
  choose(name) {
    if (!this.isLocal || name === this.name) return;
    this.close();
    this.name = name;
    this.path = name === this.first ? "whep" : `stream/${encodeURIComponent(name)}`;
    server = null;
    this.forget();
    this.nameCard();
    for (const part of ["fps", "bitrate", "latency", "drops"]) {
      this.text(part, "–");
      this.text(`${part}-parts`, "");
    }
    this.text("brief", "");
    this.connect();
    this.show();
    look();
  }

  watchPictures() {
    this.video.requestVideoFrameCallback?.((now, frame) => {
      this.newestFrameAt = now;
      if (frame.receiveTime) this.delays.push(frame.expectedDisplayTime - frame.receiveTime);
      if (this.element.dataset.state !== "live") this.show();
      this.watchPictures();
    });
  }

  text(part, words) {
    const element = this.parts[part];
    if (element.textContent !== words) element.textContent = words;
  }

  // Status. The server reports the state of its own streams, the connection its own.

  situation() {
    if (this.refusal) return this.refusal;
    if (this.isLocal) {
      if (!server) return this.newestFrameAt ? "away" : "connecting";
      if (server.pause) return "paused";
      if (server.state !== "live") return this.newestFrameAt ? "gone" : "waiting";
    }
    if (!this.isConnected) return "connecting";
    if (this.newestFrameAt) return this.pauseMs() > longestPauseMs ? "still" : "live";
    return this.isLocal ? "connecting" : "silent";
  }

  pauseMs() { return performance.now() - this.newestFrameAt; }

  show() {
    const now = this.situation();
    const [kind, headline, usualAdvice] = words[now];
    this.text("state", headline);
    // Not announced, because it changes every second.
    this.text("pause", now === "still" ? ` for ${Math.floor(this.pauseMs() / 1000)} s` : "");
    this.element.dataset.state = kind;
    this.text("headline", headline);
    this.text("advice",
      now === "paused" ? `Because ${server.pause}.`
        : now === this.refusal && this.reason ? this.reason : usualAdvice);
    this.parts.message.hidden = now === "live" || now === "still";
    this.parts.inset.disabled = !this.video.videoWidth;
    if (this.isLocal) this.text("application", server?.application ?? "");
    this.showChoices();
  }

  // The connection (WHEP): POST an offer, PATCH candidates, and DELETE at the end.

  async connect() {
    const { path } = this;
    const found = [];   // The browser's candidates.
    let hasConnected = false;
    const own = this.peer = new RTCPeerConnection({ bundlePolicy: "max-bundle" });
    const waiting = [];
    let timer = null;
    const send = () => {
      timer = null;
      if (own !== this.peer || !this.resource || !waiting.length) return;
      fetch(this.resource, {
        method: "PATCH", headers: { "Content-Type": "application/trickle-ice-sdpfrag" },
        body: fragment(own.localDescription.sdp, waiting.splice(0)),
      }).catch(() => {});
    };
    own.onicecandidate = (event) => {
      if (event.candidate?.candidate) {
        waiting.push(event.candidate);
        found.push(event.candidate.candidate);
      }
      timer ??= setTimeout(send, 50);
    };
    const fail = () => {
      if (own !== this.peer || hasConnected || !own.remoteDescription) return;
      this.refuse("unconnected", tried(found, own.remoteDescription.sdp));
    };
    own.onconnectionstatechange = () => {
      if (own !== this.peer) return;
      this.isConnected = own.connectionState === "connected";
      if (this.isConnected) { this.attempts = 0; this.refusal = null; hasConnected = true; }
      if (own.connectionState === "failed") return hasConnected ? this.again() : fail();
      if (own.connectionState === "closed") this.again();
      this.show();
    };
    own.addTransceiver("video", { direction: "recvonly" });
    if (this.hasSound) own.addTransceiver("audio", { direction: "recvonly" });
    try {
      await own.setLocalDescription();
      if (own !== this.peer) return;
      const response = await fetch(at(path), {
        method: "POST", headers: { "Content-Type": "application/sdp" },
        body: this.isLocal
          // In the first section, the video's.
          ? own.localDescription.sdp.replace("a=mid:", shownSize(this.video) + "a=mid:")
          : own.localDescription.sdp,
      });
      const body = await response.text();
      const resource = response.ok && new URL(response.headers.get("Location"), response.url);
      if (own !== this.peer) {
        if (resource) remove(resource);
        return;
      }
      if (!response.ok) {
        const isText = response.headers.get("Content-Type")?.startsWith("text/plain");
        return this.refuse(refusal(response.status, this.isLocal), isText ? body.trim() : "");
      }
      this.resource = resource;
      this.size = shownSize(this.video);
      await own.setRemoteDescription({ type: "answer", sdp: body });
      const receivers = own.getTransceivers()
        .filter((part) => part.currentDirection === "recvonly").map((part) => part.receiver);
      for (const receiver of receivers) receiver.jitterBufferTarget = 0;
      this.video.srcObject = new MediaStream(receivers.map((receiver) => receiver.track));
      this.play();
      const isSilent = !receivers.some((receiver) => receiver.track.kind === "audio");
      this.parts.mute.hidden = this.parts.volume.hidden = isSilent;
      send();
      // Addresses are found at once, if there are any.
      setTimeout(() => { if (!found.length) fail(); }, 3000);
      setTimeout(fail, 15000);
    } catch {
      if (own === this.peer) this.refuse("away", "");
    }
  }

  /** A browser may refuse to play sound of its own accord, but not pictures. */
  play() {
    this.video.play().catch((error) => {
      if (error.name !== "NotAllowedError" || this.video.muted) return;
      this.video.muted = true;
      this.play();
    });
  }

  refuse(refusal, reason) {
    this.refusal = refusal;
    this.reason = this.isLocal && refusal === "full" ? "" : reason;
    this.again();
    this.show();
  }

  close() {
    clearTimeout(this.retry);
    if (this.resource) remove(this.resource);
    this.peer?.close();
    this.peer = this.resource = null;
    this.isConnected = false;
    this.video.srcObject = null;
  }

  /** Retries with backoff. */
  again() {
    this.close();
    const longest = ["codec", "refused", "absent"].includes(this.refusal) ? 30000 : 8000;
    this.retry = setTimeout(() => this.connect(), Math.min(longest, 500 * 2 ** this.attempts++));
  }

  // Figures, once a second: the browser's statistics and the server's.

  async measure() {
    const own = this.peer;
    if (!own) return;
    const found = { inbound: null, pair: null };
    for (const entry of (await own.getStats()).values()) {
      if (entry.type === "inbound-rtp" && entry.kind === "video") found.inbound = entry;
      if (entry.type === "candidate-pair" && entry.nominated) found.pair = entry;
    }
    const now = found.inbound;
    if (!now || own !== this.peer) return;
    const last =
      this.before && this.before.ssrc === now.ssrc ? this.before : { ...now, timestamp: 0 };
    const seconds = last.timestamp ? (now.timestamp - last.timestamp) / 1000 : 0;
    const frames = now.framesDecoded - last.framesDecoded;
    this.before = now;
    if (!seconds) return;
    // A page in the background shows nothing, but decodes.
    if (frames > 0 && (document.hidden || !this.video.requestVideoFrameCallback)) {
      this.newestFrameAt = performance.now();
    }
    const each = (total, count) => {
      const some = now[count] - last[count];
      return some > 0 ? (1000 * (now[total] - last[total])) / some : 0;
    };
    const buffered = each("jitterBufferDelay", "jitterBufferEmittedCount");
    const decoded = each("totalDecodeTime", "framesDecoded");
    // Measured to the screen; a browser that does not say when a picture arrived has only the sum.
    const shown = median(this.delays.splice(0));
    const inBrowser = shown ?? buffered + decoded;
    const inside = `buffer ${buffered.toFixed(0)}, decoder ${decoded.toFixed(0)}`;
    const network = this.isLocal ? 500 * (found.pair?.currentRoundTripTime ?? 0) : 0;
    const captured = this.isLocal ? server?.latencyMs ?? 0 : 0;
    const bits = (8 * (now.bytesReceived - last.bytesReceived)) / seconds;
    const figures = this.isLocal && server;
    this.text("fps", (frames / seconds).toFixed(1));
    this.text("fps-parts", now.frameWidth ? `${now.frameWidth} × ${now.frameHeight}` : "");
    this.text("bitrate", (bits / 1e6).toFixed(2) + " Mbit/s");
    this.text("bitrate-parts", figures ? viewers(figures.viewers ?? 0) : "");
    this.text(
      "latency", frames ? Math.round(captured + network + inBrowser) + " ms" : "–");
    this.text("latency-parts", frames
      ? (this.isLocal
        ? `encoded after ${captured.toFixed(0)} ms, network ${network.toFixed(0)}, ` : "")
        + (shown === null ? `${inside}, no drawing` : `browser ${shown.toFixed(0)} (${inside})`)
      : "");
    const bus = figures?.drops ?? 0;
    this.text("drops", String(bus + (now.framesDropped ?? 0)));
    this.text("drops-parts", (this.isLocal ? `bus ${bus}, ` : "")
      + `browser ${now.framesDropped ?? 0}, packets lost ${now.packetsLost ?? 0}`);
    this.text("brief", ["fps", "bitrate", "latency"].map(
      (part) => this.parts[part].textContent + (part === "fps" ? " fps" : "")).join(", "));
    this.show();
  }

  /** Tells the server the size of the picture on the screen, which it need not exceed. */
  tellSize() {
    const size = shownSize(this.video);
    if (!this.isLocal || !this.resource || !size || size === this.size) return;
    this.size = size;
    fetch(this.resource, {
      method: "PATCH", headers: { "Content-Type": "application/trickle-ice-sdpfrag" }, body: size,
    }).catch(() => {});
  }

  /** Keeps the place of a viewer whose media do not come from this server. */
  stay() {
    if (this.resource) fetch(this.resource, { method: "HEAD" }).catch(() => {});
  }
}

function remove(resource) {
  fetch(resource, { method: "DELETE", keepalive: true }).catch(() => {});
}

/** What was tried in vain, and what to do. */
function tried(candidates, answer) {
  if (!candidates.length) {
    return "This browser offers no address: browsers do not use those of loopback. Connect this "
      + "machine to a network, or create an interface with an address and a default route "
      + "(ip-link(8), type dummy).";
  }
  const list = (found) => [...new Set(found.map((candidate) => candidate.split(" ")[4] ?? "?"))]
    .slice(0, 6)
    .map((address) => (address.endsWith(".local") ? "a hidden address" : address)).join(", ");
  const answered = answer.match(/^a=candidate:.*$/gm) ?? [];
  return `Tried from ${list(candidates)} to ${list(answered) || "nowhere: it names no address"}. `
    + "Check that nothing blocks UDP between them.";
}

/** The size of a video on the screen, as a line of a session description (RFC 6236). */
function shownSize(video) {
  const [x, y] = [video.clientWidth, video.clientHeight]
    .map((side) => Math.min(16384, Math.ceil(side * devicePixelRatio)));
  return x && y ? `a=imageattr:* recv [x=${x},y=${y}]\r\n` : "";
}

/** Candidates in the format of RFC 8840. */
function fragment(offer, candidates) {
  const line = (name) => offer.match(new RegExp(`^a=${name}:.*$`, "m"))?.[0];
  const lines = [line("ice-ufrag"), line("ice-pwd")];
  for (const candidate of candidates) {
    lines.push("m=video 9 UDP/TLS/RTP/SAVPF 0", "a=mid:" + candidate.sdpMid,
      "a=" + candidate.candidate);
  }
  return lines.join("\r\n") + "\r\n";
}

/** Null without numbers. */
function median(numbers) {
  return numbers.length ? numbers.sort((a, b) => a - b)[numbers.length >> 1] : null;
}

const viewers = (count) => (count === 1 ? "1 viewer" : `${count} viewers`);

const cards = [...document.querySelectorAll("section[data-path]")].map((place) => new Card(place));

// Polled, because a stream of events would occupy one of the six connections that all tabs of a
// browser share.
let looks = 0;

async function look() {
  const round = ++looks;
  const of = local.path === "whep" ? "" : `/${encodeURIComponent(local.name)}`;
  let found = null;
  try {
    const response = await fetch(at(`figures${of}`));
    found = response.ok ? await response.json() : null;
  } catch { /* It does not answer. */ }
  // Another stream was chosen meanwhile.
  if (round !== looks) return;
  server = found;
  for (const card of cards) card.show();
  setTimeout(() => { if (round === looks) look(); }, 1000);
}

const local = cards.find((card) => card.isLocal);
if (local) {
  const chosen = () => query().get("stream") ?? local.first;
  local.choose(chosen());
  addEventListener("popstate", () => local.choose(chosen()));
  if (!looks) look();
}
for (const card of cards) {
  card.show();
  if (!card.peer) card.connect();
  setInterval(() => card.measure().catch(() => {}), 1000);
  setInterval(() => card.tellSize(), 1000);
  if (!card.isLocal) setInterval(() => card.stay(), 10000);
}
addEventListener("pagehide", () => { for (const card of cards) card.close(); });
addEventListener("pageshow", (event) => {
  if (event.persisted) for (const card of cards) card.connect();
});
