/**
 * Does the same as `watch-draws.ts` for `node:crypto`, whose functions differ from those of the global `crypto`.
 * Loading `node:crypto` costs a few milliseconds, so its functions are replaced only when a module is about to import
 * it. They must be replaced before that import, because an import keeps the functions that it found.
 */
import { currentScope } from '../../trace/draw-scope.ts';

/** Marks a function that is already replaced. */
const WATCHED = Symbol('watched');

/** Replaces the functions if `code`, the text of a module to be imported, imports `node:crypto`. */
export function watchNodeCrypto(code: string): void {
  if (!/['"](?:node:)?crypto['"]/.test(code)) return;
  const node = process.getBuiltinModule('node:crypto');
  const { randomUUID: uuid, randomBytes: bytes } = node;
  if (WATCHED in uuid) return;

  function randomUUID(options?: Parameters<typeof uuid>[0]): string {
    const draw = () => uuid(options);
    return currentScope()?.draw?.('uuid', draw) ?? draw();
  }

  /** Calls with a callback are not recorded. */
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
