/** Old extensions for tests. */
import { extension, type ScriptedAgentOptions } from '@goondan/runtime/testing';
import type { OldExtensionApi, OldRegister } from '../old-types.ts';
import { isMiddlewarePoint, middlewarePoints, mutatorPoints, type Point } from '../points.ts';
import { v010 } from '../v010.ts';

export function oldExtension(name: string, register: OldRegister, config: Record<string, string> = {}) {
  return extension(name, v010(register), { config });
}

/** Registers a function at a point that notes its name, and both sides of a wrapped point. */
export function note(
  api: Pick<OldExtensionApi, 'pipelines'>,
  point: Point,
  name: string,
  seen: string[],
  options?: { priority?: number; id?: string },
): void {
  const mutate = <Context>(ctx: Context): Context => {
    seen.push(`${point} ${name}`);
    return ctx;
  };
  const wrap = async <Context, Result>(ctx: Context, next: (ctx: Context) => Promise<Result>): Promise<Result> => {
    seen.push(`${point} ${name} in`);
    const result = await next(ctx);
    seen.push(`${point} ${name} out`);
    return result;
  };
  if (isMiddlewarePoint(point)) api.pipelines.wrap(point, wrap, options);
  else api.pipelines.mutate(point, mutate, options);
}

export const allPoints: readonly Point[] = [...mutatorPoints, ...middlewarePoints];

/** An agent that calls a tool and then says `done`. */
export const callsTool: Pick<ScriptedAgentOptions, 'script' | 'tools'> = {
  script: [{ when: 'go', calls: [{ tool: 'echo__run', args: { text: 'hello' } }] }, { say: 'done' }],
  tools: [
    {
      name: 'echo',
      exports: [{ name: 'run', description: 'Says the text.', parameters: { type: 'object' } }],
      handlers: { run: (_ctx, input) => input },
    },
  ],
};
