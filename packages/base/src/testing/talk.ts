/** Sends raw bytes to a port of this machine, and returns the answer when the other side closes. */
import { connect } from 'node:net';

export function talk(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let heard = '';
    const socket = connect(port, '127.0.0.1', () => void socket.write(text));
    socket.on('data', (bytes) => (heard += bytes.toString()));
    socket.on('close', () => resolve(heard));
    socket.on('error', reject);
  });
}
