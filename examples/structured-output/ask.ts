import { z } from 'zod';
import type { startShop } from './swarm.ts';

type Shop = Awaited<ReturnType<typeof startShop>>;

/** The answer has the type of the agent's schema. */
export async function findProduct(shop: Shop, input: string): Promise<string | undefined> {
  const { result } = await shop.ask({ agent: 'triage', input });
  return result.output?.product;
}

/** The schema of an ask wins over the one of the agent. Its refinements and transformations apply, too. */
export async function findDays(shop: Shop, input: string): Promise<number | undefined> {
  const schema = z.object({ urgency: z.string().transform((urgency) => (urgency === 'high' ? 1 : 14)) });
  const { result } = await shop.ask({ agent: 'triage', input, output: { schema, retries: 1 } });
  return result.output?.urgency;
}
