/**
 * Messages of many conversations over the channel of one shared process. Each conversation has a seat: a number that the
 * orchestrator gives it, and that no other conversation of the process ever has. Each frame names its seat. The
 * messages themselves are those of the language of a process with one conversation, encoded and checked by its codec.
 */
import { count, object, optional } from './check/shape.ts';
import { checked, type Codec, type Language, parseFrame } from './codec.ts';

/** The argument that makes an agent process a shared one. */
export const SHARED = 'shared';

/** The seat of the process itself, for messages that concern no conversation. */
export const PROCESS_SEAT = 0;

/** A message, or the end of a seat: its conversation is closed, and the process goes on. */
export type Seated<Message> =
  { readonly seat: number; readonly message: Message } | { readonly seat: number; readonly exit: number };

export function seatedLanguage<Down, Up>({ parent, child }: Language<Down, Up>): Language<Seated<Down>, Seated<Up>> {
  return { parent: seatedCodec(parent), child: seatedCodec(child) };
}

function seatedCodec<Out, In>(codec: Codec<Out, In>): Codec<Seated<Out>, Seated<In>> {
  const check = (value: unknown): Seated<In> => {
    const { seat, exit, message } = checked(seatedFields, value, SHARED);
    return exit === undefined ? { seat, message: codec.check(message) } : { seat, exit };
  };
  return {
    encode: (frame) => {
      if ('exit' in frame) return `{"seat":${frame.seat},"exit":${frame.exit}}`;
      return `{"seat":${frame.seat},"message":${codec.encode(frame.message)}}`;
    },
    decode: (frame) => check(parseFrame(frame)),
    check,
    lossyKindOf: (frame) => ('exit' in frame ? undefined : codec.lossyKindOf(frame.message)),
    dropped: (counts) => {
      const message = codec.dropped(counts);
      return message === undefined ? undefined : { seat: PROCESS_SEAT, message };
    },
  };
}

const seatedFields = object({
  seat: count,
  exit: optional(count),
  /** Checked by the codec of the message. */
  message: optional((message) => message),
});
