/** Reads what a person typed at a question. Nothing but a clear yes is a yes. Pure. */
import type { Always, AskedKind } from './wording.ts';

export type TypedKey =
  | { readonly type: 'yes' | 'edit' | 'always' | 'unclear' }
  /** `note`: the reason. */
  | { readonly type: 'no'; readonly note?: string };

/** Enter alone, and everything that is not a key of this kind of question, is unclear. */
export function readKey(text: string, kind: AskedKind): TypedKey {
  const typed = text.trim();
  if (/^y(es)?$/i.test(typed)) return { type: 'yes' };
  const [isNo, note = ''] = /^no?(?:[\s,;:.!]+([^]*))?$/i.exec(typed) ?? [];
  if (isNo !== undefined) return note === '' ? { type: 'no' } : { type: 'no', note };
  if (/^e(dit)?$/i.test(typed) && (kind === 'call' || kind === 'form')) return { type: 'edit' };
  if (/^a(lways)?$/i.test(typed) && kind === 'call') return { type: 'always' };
  return { type: 'unclear' };
}

/** Returns `back` for Enter alone, and `undefined` for everything else that is not a key. */
export function readAlways(text: string): Always | 'back' | undefined {
  const typed = text.trim().toLowerCase();
  if (typed === '') return 'back';
  if (typed === 't' || typed === 'tool') return 'tool';
  return typed === 'a' || typed === 'arguments' ? 'arguments' : undefined;
}
