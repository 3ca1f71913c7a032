import { readDemand } from '../json/read-demand.ts';
import type { Delivery } from './swarm.ts';
import type { PlainDelivery } from './typed-ask.ts';

/** Makes a delivery JSON: its schema becomes a plain JSON Schema. **Errors** — `E_OUTPUT_INVALID`. */
export function plainDelivery({ output, ...delivery }: Delivery): PlainDelivery {
  return { ...delivery, ...(output === undefined ? {} : { output: readDemand(output) }) };
}
