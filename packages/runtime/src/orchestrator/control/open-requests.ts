/** The open requests of the socket, which must end when the socket closes. A finished request removes itself. */
import { GoondanError } from '@goondan/types';

export class OpenRequests {
  private readonly closers = new Set<() => void>();
  private isClosed = false;

  get size(): number {
    return this.closers.size;
  }

  /**
   * Calls `close` when the socket closes, or at once if it is already closed. Returns a function that unregisters
   * `close`.
   */
  add(close: () => void): () => void {
    if (this.isClosed) close();
    else this.closers.add(close);
    return () => void this.closers.delete(close);
  }

  /**
   * Settles as `work` does, or rejects when the socket closes or the client disconnects first. The work itself
   * continues.
   */
  wait<Value>(work: Promise<Value>, left: AbortSignal): Promise<Value> {
    return new Promise((resolve, reject) => {
      const giveUp = () => reject(socketClosed());
      const callOff = this.add(giveUp);
      const leave = () => {
        callOff();
        giveUp();
      };
      left.addEventListener('abort', leave, { once: true });
      if (left.aborted) leave();
      work.then(resolve, reject).finally(() => {
        callOff();
        left.removeEventListener('abort', leave);
      });
    });
  }

  closeAll(): void {
    this.isClosed = true;
    for (const close of [...this.closers]) close();
    this.closers.clear();
  }
}

export function socketClosed(): GoondanError {
  return new GoondanError('E_CONTROL_CLOSED', 'The swarm stopped before this was done.');
}
