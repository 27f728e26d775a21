"""Chromium as the sender of a WHIP upload: a canvas of noise, with the mark of the test pattern.

  chromium_sender.py ADDRESS WIDTH HEIGHT FRAMES_PER_SECOND BITS_PER_SECOND

It writes `connected`, and sends until standard input ends.
"""
import asyncio
import json
import re
import sys
import time

import aiohttp
import chromium
from chromium import Browser

PAGE = """(async (width, height, rate, bits, offset) => {
  const canvas = document.body.appendChild(document.createElement("canvas"));
  canvas.width = width; canvas.height = height;
  const context = canvas.getContext("2d");
  const noise = Array.from({ length: 16 }, () => {
    const image = context.createImageData(width, height);
    const words = new Uint32Array(image.data.buffer);
    for (let i = 0; i < words.length; i++) words[i] = Math.random() * 0x1000000 | 0xff000000;
    return image;
  });
  const side = Math.min(Math.floor(width / 22), Math.floor(height / 8));
  let number = 0;
  const draw = () => {
    context.putImageData(noise[number % noise.length], 0, 0);
    const time = performance.timeOrigin + performance.now() + offset;
    const bytes = new DataView(new ArrayBuffer(10));
    bytes.setUint32(0, ++number);
    bytes.setUint32(4, Math.floor(time) % 2 ** 32);
    let crc = 0xffff;
    for (let i = 0; i < 8; i++) {
      crc ^= bytes.getUint8(i) << 8;
      for (let j = 0; j < 8; j++) crc = (crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1) & 0xffff;
    }
    bytes.setUint16(8, crc);
    context.fillStyle = "#101010";
    context.fillRect(side / 2, side / 2, 21 * side, 5 * side);
    for (let i = 0; i < 80; i++) {
      const bit = bytes.getUint8(i >> 3) >> 7 - (i & 7) & 1;
      context.fillStyle = bit ? "#ffffff" : "#000000";
      context.fillRect(side * (1 + i % 20), side * (1 + Math.floor(i / 20)), side, side);
    }
  };
  draw();
  setInterval(draw, 1000 / rate);
  window.peer = new RTCPeerConnection();
  const track = canvas.captureStream(rate).getVideoTracks()[0];
  const transceiver = peer.addTransceiver(track, {
    direction: "sendonly", sendEncodings: [{ maxBitrate: bits, maxFramerate: rate }] });
  const codecs = RTCRtpSender.getCapabilities("video").codecs;
  const isWanted = (codec) => /VP8|rtx/.test(codec.mimeType);
  transceiver.setCodecPreferences(codecs.filter(isWanted));
  await peer.setLocalDescription();
  while (peer.iceGatheringState !== "complete")
    await new Promise((resolve) => peer.addEventListener("icegatheringstatechange", resolve));
  return peer.localDescription.sdp;
})"""


# Addresses, and not names that multicast DNS resolves.
chromium.FLAGS.append("--disable-features=WebRtcHideLocalIpsWithMdns")


async def main():
    address, numbers = sys.argv[1], [int(word) for word in sys.argv[2:6]]
    async with Browser() as browser, aiohttp.ClientSession() as session:
        offset = (time.monotonic() - time.time()) * 1000
        arguments = ", ".join(map(str, [*numbers, offset]))
        offer = await browser.evaluate(f"{PAGE}({arguments})")
        # The sender estimates by arrivals, not the receiver by times of sending.
        lines = [line for line in offer.splitlines() if "abs-send-time" not in line]
        headers = {"Content-Type": "application/sdp"}
        async with session.post(
                address, data="\r\n".join(lines) + "\r\n", headers=headers) as response:
            text = re.sub(
                r"(a=rtpmap:(\d+) VP8/90000\r\n)", r"\1a=rtcp-fb:\2 transport-cc\r\n",
                await response.text())
        answer = json.dumps({"type": "answer", "sdp": text.replace("goog-remb", "ccm fir")})
        await browser.evaluate(f"peer.setRemoteDescription({answer})")
        while await browser.evaluate("peer.connectionState") != "connected":
            await asyncio.sleep(0.1)
        print("connected", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
