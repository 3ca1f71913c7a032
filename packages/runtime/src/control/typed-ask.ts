/**
 * Asks with schemas of schema libraries. A swarm gets a plain JSON Schema; the library's own check, with refinements and
 * transformations, runs in the program that asks.
 */
import { GoondanError, type JsonValue, type OutputDemand, type TypedDemand } from '@goondan/types';
import { ownCheckOf } from '../json/standard-schema.ts';
import type { AskOptions, Delivery, Swarm, TurnEnd } from './swarm.ts';

/** A delivery that is JSON. */
export type PlainDelivery = Omit<Delivery, 'output'> & { readonly output?: OutputDemand };

/** An implementation of `Swarm.ask` that knows only JSON. */
export type PlainAsk = (delivery: PlainDelivery, options?: AskOptions) => Promise<TurnEnd>;

/** Makes a delivery JSON. **Errors** — `E_OUTPUT_INVALID`. */
export type ToPlain = (delivery: Delivery) => PlainDelivery | Promise<PlainDelivery>;

/** Makes `Swarm.ask` of an implementation that knows only JSON. */
export function typedAsk(ask: PlainAsk, toPlain: ToPlain = plainInOrder()): Swarm['ask'] {
  const send = sendPlain(toPlain, ask);
  const typed = async (delivery: Delivery, options?: AskOptions) =>
    withOwnCheck(await send(delivery, options), delivery.output);
  // Safe: the answer was checked against the schema that its type follows from.
  return typed as Swarm['ask'];
}

/** Makes deliveries JSON before they are sent. One that is JSON at once is sent at once. */
export function sendPlain<Options, Answer>(
  toPlain: ToPlain,
  send: (delivery: PlainDelivery, options?: Options) => Promise<Answer>,
): (delivery: Delivery, options?: Options) => Promise<Answer> {
  return async (delivery, options) => {
    const plain = toPlain(delivery);
    return send(plain instanceof Promise ? await plain : plain, options);
  };
}

/**
 * Makes the deliveries of one client JSON, in their order. The check of schemas is loaded only for a delivery with a
 * demand, because most clients have none; later deliveries wait for it.
 */
export function plainInOrder(): ToPlain {
  let last: Promise<void> | undefined;
  const convert = async ({ output, ...delivery }: Delivery, before: Promise<void> | undefined) => {
    await before;
    if (output === undefined) return delivery;
    const { plainDelivery } = await import('./plain-delivery.ts');
    return plainDelivery({ ...delivery, output });
  };
  return (given) => {
    const { output, ...delivery } = given;
    if (output === undefined && last === undefined) return delivery;
    const plain = convert(given, last);
    // A delivery that is refused does not stop those after it.
    const settled = plain.then(
      () => undefined,
      () => undefined,
    );
    last = settled;
    void settled.then(() => {
      if (last === settled) last = undefined;
    });
    return plain;
  };
}

/** Runs the library's own check. If it refuses the answer, the end is that of a failed turn. */
async function withOwnCheck(end: TurnEnd, demand: TypedDemand | undefined): Promise<TurnEnd> {
  const check = demand && ownCheckOf(demand.schema);
  const { output, ...result } = end.result;
  if (check === undefined || output === undefined) return end;
  const checked = await check(output);
  // Safe: a schema may transform the answer to any value, and only the caller reads it.
  if ('value' in checked) return { ...end, result: { ...result, output: checked.value as JsonValue } };
  const said = `The answer does not fit the demanded schema: ${checked.problems.join('; ')}.`;
  const { code, message, suggestion } = new GoondanError('E_OUTPUT_SCHEMA', said);
  return { ...end, result: { ...result, finishReason: 'error', error: { code, message, suggestion } } };
}
