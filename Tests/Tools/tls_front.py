"""Accepts only TLS, and forwards the decrypted bytes to a port of this machine.

  tls_front.py PORT CERT,KEY TARGET

Writes `listening PORT`, then `tls` for each successful handshake.
"""
import asyncio
import ssl
import sys

port, identity, target = int(sys.argv[1]), sys.argv[2].split(","), int(sys.argv[3])


async def carry(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def serve(reader, writer):
    print("tls", flush=True)
    onward = await asyncio.open_connection("127.0.0.1", target)
    await asyncio.gather(carry(reader, onward[1]), carry(onward[0], writer))


async def main():
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*identity)
    server = await asyncio.start_server(serve, "127.0.0.1", port, ssl=context)
    print("listening", server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
