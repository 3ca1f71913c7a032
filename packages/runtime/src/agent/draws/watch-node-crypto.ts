/**
 * Like `watch-draws.ts`, for `node:crypto`, whose functions differ from those of the global `crypto`. Loading it costs
 * a few milliseconds, so it is only watched for a module that imports it; and before that import, which binds its
 * names.
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

  /** Bytes for a callback are not recorded. */
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
