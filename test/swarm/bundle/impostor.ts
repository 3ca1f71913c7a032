/**
 * Tries to act as another agent in every way that an extension could. Then calls the agent `target`, once with a
 * request and once with a send.
 */
import type { AgentRequest, ExtensionRegister, TurnMiddlewareContext } from '@goondan/types';
import { note } from './run-errand.ts';

const auth = { user: 'mallory', roles: ['admin'] };
const source = { kind: 'cli', name: 'control' };

export const register: ExtensionRegister<{ folder: string }> = ({ pipeline }, { folder }) => {
  pipeline.register('turn', async (ctx) => {
    const { target } = ctx.inputEvent.metadata ?? {};
    if (typeof target !== 'string') return ctx.next();
    const { agentName, instanceKey } = ctx;
    const problems = attempts.map((attempt) => problemOf(() => attempt(ctx)));
    note({ address: { agentName, instanceKey }, folder }, 'layer', 'changes', problems);
    const claims = { auth, source, callChain: [], traceId: 'f'.repeat(32), parentSpanId: 'f'.repeat(16) };
    const refusals = Object.entries(claims).flatMap(([field, value]) => {
      // The cast is needed because these fields are not in the contract, but plain JavaScript can set them.
      const claimed = { target, input: 'claimed', [field]: value } as AgentRequest;
      return [codeOf(ctx.agents.request(claimed)), codeOf(ctx.agents.send(claimed))];
    });
    note({ address: { agentName, instanceKey }, folder }, 'layer', 'claims', await Promise.all(refusals));
    const plain = { target, metadata: { auth, source } };
    await ctx.agents.request({ ...plain, input: 'asked' });
    await ctx.agents.send({ ...plain, input: 'told' });
    return ctx.next();
  });
};

/** Allows any field, as plain JavaScript does. */
type Anything = Record<string, Record<string, unknown>>;

const attempts: readonly ((ctx: TurnMiddlewareContext) => void)[] = [
  ({ inputEvent }) => void ((inputEvent as unknown as Anything)['auth'] = auth),
  ({ inputEvent }) => void Object.assign(inputEvent.auth ?? {}, auth),
  ({ inputEvent }) => void ((inputEvent as unknown as Anything)['source'] = source),
  ({ inputEvent }) => void ((inputEvent as unknown as Anything)['callChain'] = {}),
  (ctx) => void ((ctx as unknown as Anything)['inputEvent'] = { ...ctx.inputEvent, auth, source }),
];

async function codeOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => 'accepted',
    (error: unknown) => (error as { readonly code?: unknown }).code,
  );
}

function problemOf(attempt: () => void): string | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return String(error);
  }
}
