import { describe, expect, test } from 'bun:test';
import type { SwarmNotice, TurnEnd } from '@goondan/runtime';
import { createAssistantMessage, type JsonObject, type TurnResult } from '@goondan/types';
import { type Line, span } from '../screen/line.ts';
import { TurnView } from './turn-view.ts';

const at = { agent: 'host', instanceKey: 'default' };
const textOfLine = (line: Line) => line.map(({ text }) => text).join('');

function watch() {
  const printed: string[] = [];
  let now = 0;
  const view = new TurnView({
    agent: 'host',
    now: () => now,
    screen: { columns: 80, print: (lines) => void printed.push(...lines.map(textOfLine)) },
  });
  return {
    printed,
    live: (isAsking?: boolean) => view.live(isAsking).map(textOfLine),
    wait: (ms: number) => void (now += ms),
    say: (text: string, stepIndex = 0) => view.hear(delta({ type: 'text', text, ...step(stepIndex) })),
    think: (text: string) => view.hear(delta({ type: 'reasoning', text, ...step(0) })),
    discard: () => view.hear(delta({ type: 'discard', ...step(0) })),
    tell: (name: string, payload: JsonObject) => view.hear({ type: 'runtime.event', at, name, payload }),
    end: (result: Partial<TurnResult>, tokens?: [number, number], cost?: string) =>
      view.end(endOf(result, tokens), cost),
  };
}

const step = (stepIndex: number) => ({ turnId: 'turn-e', stepId: `step-${stepIndex}`, stepIndex });

function delta(told: Extract<SwarmNotice, { type: 'delta' }>['delta']): SwarmNotice {
  return { type: 'delta', at, eventId: 'e', delta: told };
}

function endOf(result: Partial<TurnResult>, [inputTokens, outputTokens] = [0, 0]): TurnEnd {
  const usage = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
  const full: TurnResult = { turnId: 'turn-e', finishReason: 'text_response', ...result };
  return { agent: 'host', instanceKey: 'default', eventId: 'e', traceId: '', result: full, stepCount: 3, usage };
}

const answer = (text: string) => ({ responseMessage: createAssistantMessage(text) });
const call = { spanId: 'a', toolName: 'weather__get', args: '{"city":"Seoul"}' };

describe('a turn', () => {
  test('a tool call is shown between the texts before and after it', () => {
    const { printed, say, tell, live, wait, end } = watch();
    say('Let me look.');
    tell('tool.called', call);
    wait(3_400);
    expect(live()).toEqual(['  … weather__get {"city":"Seoul"} 3 s', 'host · 3 s · Ctrl-C cancels']);
    tell('tool.completed', { ...call, status: 'ok', duration: 3_400 });
    say('Sunny.', 1);
    end(answer('Sunny.'));
    expect(printed).toEqual(['Let me look.', '  ✓ weather__get {"city":"Seoul"} ok, 3.4 s', 'Sunny.', '3.4 s', '']);
  });

  test('the status line says that Ctrl-C leaves an open question', () => {
    const { live } = watch();
    expect(live(true)).toEqual(['host · 0 s · Ctrl-C leaves the question open']);
    expect(live()).toEqual(['host · 0 s · Ctrl-C cancels']);
  });

  test('Y-07 the status line has the limit that a model call waits for, until the wait is over', () => {
    const { tell, live } = watch();
    const wait = { spanId: 'm', turnId: 'turn-e', limit: 'concurrent: 1 of Model/main' };
    tell('limit.reached', wait);
    expect(live()).toEqual(['host · 0 s · waits for concurrent: 1 of Model/main · Ctrl-C cancels']);
    tell('limit.waited', { ...wait, duration: 5 });
    expect(live()).toEqual(['host · 0 s · Ctrl-C cancels']);
    tell('limit.reached', wait);
    // The process of the turn died while the call waited.
    tell('turn.started', { turnId: 'turn-e' });
    expect(live()).toEqual(['host · 0 s · Ctrl-C cancels']);
  });

  test('the time, the tokens and the cost of every turn are shown after its answer, also if it called no agent', () => {
    const { printed, end, wait } = watch();
    wait(1_250);
    end(answer('Sunny.'), [20, 5], '0.1 USD');
    expect(printed).toEqual(['Sunny.', '1.2 s · 20 → 5 tokens · 0.1 USD', '']);
  });

  test('a failed call shows the reason, in short', () => {
    const { printed, tell } = watch();
    const error = { code: 'E_TOOL_FAILED', message: `There is\nno such city${'!'.repeat(500)}` };
    tell('tool.called', call);
    tell('tool.completed', { ...call, status: 'error', duration: 7, error });
    expect(printed[0]).toStartWith(
      '  ✗ weather__get {"city":"Seoul"} failed, 7 ms: E_TOOL_FAILED: There is no such city!',
    );
    expect(printed[0]?.length).toBeLessThan(300);
    tell('tool.called', { ...call, spanId: 'b' });
    tell('tool.failed', { ...call, spanId: 'b', duration: 7, error: { message: 'It threw.' } });
    expect(printed[1]).toEndWith('failed, 7 ms: It threw.');
  });

  test('a cancelled turn and its calls are shown in grey', () => {
    const lines: Line[] = [];
    const view = new TurnView({
      agent: 'host',
      screen: { columns: 80, print: (more) => void lines.push(...more) },
      now: () => 0,
    });
    const error = { code: 'E_CANCELLED', message: 'The turn was cancelled.' };
    view.hear({ type: 'runtime.event', at, name: 'tool.called', payload: call });
    view.hear({
      type: 'runtime.event',
      at,
      name: 'tool.completed',
      payload: { ...call, status: 'error', duration: 7, error },
    });
    view.end(endOf({ finishReason: 'error', error }));
    const [tool = [], end = []] = lines;
    expect(textOfLine(tool)).toBe('  ✗ weather__get {"city":"Seoul"} cancelled, 7 ms');
    expect(end).toEqual([span('Cancelled.', 'dim')]);
    expect(JSON.stringify(lines)).not.toContain('red');
  });

  test('long arguments are cut', () => {
    const { live, tell } = watch();
    tell('tool.called', { ...call, args: `{"text":"${'x'.repeat(190)}` });
    expect(live()[0]?.length).toBeLessThan(110);
  });

  test('the first of many calls at once are shown, and the others counted', () => {
    const { live, tell } = watch();
    for (let count = 0; count < 10; count += 1) tell('tool.called', { ...call, spanId: String(count) });
    expect(live()).toHaveLength(8);
    expect(live()[6]).toBe('  … 4 more');
  });

  test('text of a retried step does not count', () => {
    const { printed, say, discard, live, end } = watch();
    say('Half an ans');
    discard();
    expect(live()[0]).toBe('host · 0 s · Ctrl-C cancels');
    say('one line\n\nand\n', 1);
    discard();
    say('The answer.', 2);
    end(answer('The answer.'));
    expect(printed).toEqual([
      'one line',
      '',
      '(The text above does not count: the step is tried again.)',
      'The answer.',
      '',
    ]);
  });

  test('the model’s reasoning is shown while it lasts', () => {
    const { printed, think, say, live } = watch();
    think('Hmm, ');
    think('let me see');
    expect(live()[0]).toBe('Hmm, let me see');
    say('Yes.');
    expect(live()[0]).toBe('Yes.');
    expect(printed).toEqual([]);
  });

  const limit = 'The turn was ended after 3 steps, its limit (policy.maxStepsPerTurn).';
  const cut = "The answer reached the model's token limit (params.maxTokens) and is incomplete.";
  test.each<[string, string, Partial<TurnResult>, string[]]>([
    ['an answer that a layer changed is in its final form', '1234', answer('****'), ['1234', '****', '']],
    ['the limit of steps', 'So far.', { ...answer('So far.'), finishReason: 'max_steps' }, ['So far.', limit, '']],
    ['Y-09 a truncated answer', 'Once upon', { ...answer('Once upon'), truncated: true }, ['Once upon', cut, '']],
  ])('the end shows: %s', (_title, said, result, lines) => {
    const { printed, say, end } = watch();
    say(said);
    end(result);
    expect(printed).toEqual(lines);
  });

  test('an answer that did not stream is printed, too', () => {
    const { printed, end } = watch();
    end(answer('one\ntwo'));
    expect(printed).toEqual(['one', 'two', '']);
  });

  test('notices of another version may be incomplete', () => {
    const { printed, tell, live } = watch();
    tell('tool.called', {});
    tell('tool.completed', { spanId: 7, duration: 'long', error: 'no object' });
    tell('something.new', { spanId: 'x' });
    expect(live()).toHaveLength(1);
    expect(printed).toHaveLength(1);
  });
});
