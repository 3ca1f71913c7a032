/**
 * The same as `watch-draws.ts` for `node:crypto`, whose functions are others than those of the global `crypto`. It costs
 * a process some milliseconds to load, so it is only done for a module that names it; and before that is imported,
 * because its names are bound then.
 */
import { currentScope } from '../../trace/draw-scope.ts';

/** On a function that is one of these already. */
const WATCHED = Symbol('watched');

/** `code`: of a module that is about to be imported. */
export function watchNodeCrypto(code: string): void {
  if (!/['"](?:node:)?crypto['"]/.test(code)) return;
  const node = process.getBuiltinModule('node:crypto');
  const { randomUUID: uuid, randomBytes: bytes } = node;
  if (WATCHED in uuid) return;

  function randomUUID(options?: Parameters<typeof uuid>[0]): string {
    const draw = () => uuid(options);
    return currentScope()?.draw?.('uuid', draw) ?? draw();
  }

  /** Bytes that come later are not kept. */
  function randomBytes(size: number, done?: (error: Error | null, bytes: Buffer) => void): Buffer | undefined {
    if (done !== undefined) {
      bytes(size, done);
      return undefined;
    }
    const scope = currentScope();
    if (scope?.draw === undefined) return bytes(size);
    return Buffer.from(
      scope.draw('bytes', () => bytes(size).toString('hex')),
      'hex',
    );
  }

  Object.assign(node, { randomUUID: Object.assign(randomUUID, { [WATCHED]: true }), randomBytes });
}
