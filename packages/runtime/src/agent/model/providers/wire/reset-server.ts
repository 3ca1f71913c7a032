/** A server that sends the beginning of a stream and then resets the connection. For tests only. */
export interface ResetServer extends Disposable {
  readonly url: string;
}

export function startResetServer(events: readonly string[]): ResetServer {
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket) {
        const chunks = events.map((event) => `${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`);
        const head = ['HTTP/1.1 200 OK', 'content-type: text/event-stream', 'transfer-encoding: chunked', '', ''];
        socket.write(head.join('\r\n') + chunks.join(''));
        setTimeout(() => socket.terminate(), 20);
      },
    },
  });
  return { url: `http://127.0.0.1:${listener.port}`, [Symbol.dispose]: () => listener.stop(true) };
}
