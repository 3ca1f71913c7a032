// Tests what a resume repeats and what it does not repeat, one part at a time. `resume.test.ts` tests all of them at
// once.
import { describe, expect, test } from 'bun:test';
import { createSystemMessage, GoondanError, type MessageEvent, textOf } from '@goondan/types';
import { systemClock } from '../../ports/clock.ts';
import { extension, inProcessEngine, scriptedAgent, type ScriptedAgentOptions } from '../../testing/index.ts';
import { afterNext, beforeNext, oneLayer } from '../../testing/one-layer.ts';
import type { TurnRecord } from '../conversation/conversation-store.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';
import { interruptedStore, recordingStore, recordsOf, recordsUpTo } from '../../testing/turn-records.ts';

const says = (text: string): MessageEvent => ({ type: 'append', message: createSystemMessage(text, {}, { id: text }) });

/** Resumes the turn in a new process, from these records of an old one. */
async function resume(options: ScriptedAgentOptions, records: readonly TurnRecord[], input = 'go') {
  const store = await interruptedStore(records);
  const agent = await scriptedAgent({ ...options, store });
  const turn = await agent.say(input);
  const texts = (await agent.messages()).map((message) => textOf(message)).join(' | ');
  return { agent, turn, texts };
}

function counter(declared: Pick<ToolDeclaration['exports'][number], 'idempotent' | 'effects'> = {}) {
  const ran: string[] = [];
  const tool: ToolDeclaration = {
    name: 'counter',
    exports: [{ name: 'add', description: 'Counts.', ...declared }],
    handlers: {
      add: (ctx) => {
        ran.push(ctx.toolCallId);
        return { count: ran.length };
      },
    },
  };
  const script = [
    { when: '.', call: { tool: 'counter__add' } },
    { afterTool: 'counter__add', say: 'count {{result.count}} code {{result.error.code}}' },
  ];
  return { ran, options: { tools: [tool], script } };
}

test('M-01 a turn whose layers truncate ends with the same messages, wherever it was interrupted', async () => {
  const { options } = counter({ idempotent: true });
  const clear = extension('clear', ({ pipeline }) => {
    pipeline.register('turn', (ctx) => {
      ctx.emitMessageEvent(says('lost'));
      ctx.emitMessageEvent({ type: 'truncate' });
      ctx.emitMessageEvent(says('kept'));
      return ctx.next();
    });
    pipeline.register('step', (ctx) => {
      if (ctx.stepIndex === 0) ctx.emitMessageEvent({ type: 'truncate' });
      return ctx.next();
    });
  });
  const clearing = { ...options, extensions: [clear] };
  const all = await recordsOf(clearing);
  for (const count of all.keys()) {
    const { agent } = await resume(clearing, all.slice(0, count));
    const ids = (await agent.messages()).map(({ id }) => id.replace('turn-event-1.', ''));
    expect(ids).toEqual(['input', 'step-0.reply', 'step-0.result-0', 'step-1.reply']);
  }
});

describe('a tool call that had started and not ended', () => {
  test('is not repeated: the model reads E_INTERRUPTED, and the turn continues', async () => {
    const { ran, options } = counter();
    const records = recordsUpTo(await recordsOf(options), ({ type }) => type === 'intent');
    ran.length = 0;
    const { agent, turn } = await resume(options, records);
    expect(ran).toEqual([]);
    expect(turn.text).toBe('count  code E_INTERRUPTED');
    // The reply with the tool call was recorded, so only the next reply had to be requested.
    expect(agent.requests).toHaveLength(1);
    const results = agent.told.filter(({ name }) => name === 'tool.completed').map(({ payload }) => payload);
    expect(results).toMatchObject([{ toolCallId: 'call_1', status: 'error' }]);
  });

  test('R-03 names the code that blocked the process, also when the turn is resumed once more', async () => {
    const { options } = counter();
    const first = recordsUpTo(await recordsOf(options), ({ type }) => type === 'intent');
    const { store, records } = recordingStore(await interruptedStore(first));
    const agent = await scriptedAgent({ ...options, store });
    const { trace } = await agent.say('go', { blocked: 'blocked in tool counter__add (counter.ts)' });
    const message = 'which was blocked in tool counter__add (counter.ts), interrupted this call';
    expect(JSON.stringify(await agent.messages())).toContain(message);
    expect(JSON.stringify(trace)).toContain(message);

    const second = recordsUpTo(records, (record) => record.type === 'effect' && record.kind === 'tool');
    const again = await scriptedAgent({ ...options, store: await interruptedStore([...first, ...second]) });
    await again.say('go', { blocked: 'blocked in the step layer of extension notes (notes.ts)' });
    expect(JSON.stringify(await again.messages())).toContain(message);
  });

  test.each([{ idempotent: true }, { effects: 'none' }] as const)(
    'is repeated under the same id when its tool is declared with %j',
    async (declared) => {
      const { ran, options } = counter(declared);
      const all = await recordsOf(options);
      const isIntent = ({ type }: TurnRecord) => type === 'intent';
      // A call whose intent never reached the disk looks like a call that was not made.
      for (const records of [recordsUpTo(all, isIntent), recordsUpTo(all, isIntent).slice(0, -1)]) {
        ran.length = 0;
        const { turn } = await resume(options, records);
        expect(ran).toEqual(['call_1']);
        expect(turn.text).toBe('count 1 code ');
      }
    },
  );

  test.each(['local', 'external'] as const)('is not repeated when its tool has effects: %s', async (effects) => {
    const { ran, options } = counter({ effects });
    const records = recordsUpTo(await recordsOf(options), ({ type }) => type === 'intent');
    ran.length = 0;
    expect((await resume(options, records)).turn.text).toBe('count  code E_INTERRUPTED');
    expect(ran).toEqual([]);
  });

  test('is not repeated when a turn layer had made it', async () => {
    const { ran, options } = counter();
    const codes: unknown[] = [];
    const caller = beforeNext('caller', 'turn', async (ctx) => {
      codes.push((await ctx.tools.call('counter__add')).error?.code);
    });
    const calling = { ...options, script: [{ say: 'ok' }], extensions: [caller] };
    const records = recordsUpTo(await recordsOf(calling), ({ type }) => type === 'intent');
    ran.length = 0;
    await resume(calling, records);
    expect([ran, codes]).toEqual([[], [undefined, 'E_INTERRUPTED']]);
  });
});

describe('a tool call that had ended', () => {
  test('is not repeated, and is not dropped with a retried step', async () => {
    const { ran, options } = counter();
    const unlucky = afterNext('unlucky', 'step', (_result, ctx) => {
      if (ctx.stepIndex === 0) throw Object.assign(new Error('again'), { retryable: true });
    });
    const failing = { ...options, extensions: [unlucky] };
    const all = await recordsOf(failing);
    for (const last of ['intent', 'effect'] as const) {
      const records = recordsUpTo(all, (record) => record.type === last && record.kind === 'tool');
      ran.length = 0;
      const { texts } = await resume(failing, records);
      expect(ran).toEqual([]);
      expect(texts).toBe(last === 'effect' ? 'go |  |  | count 1 code ' : 'go |  |  | count  code E_INTERRUPTED');
    }
  });
});

describe('a retried step', () => {
  test('has the events that survived it also after a crash, once, wherever the process was killed', async () => {
    const options: ScriptedAgentOptions = {
      script: [{ fail: { message: 'overloaded', retryable: true, times: 2 } }, { say: 'Hi.' }],
      extensions: [
        oneLayer('noter', 'step', async (ctx) => {
          ctx.emitMessageEvent(says(`before ${ctx.stepIndex}`));
          return ctx.next().catch((error: unknown) => {
            ctx.emitMessageEvent(says(`caught ${ctx.stepIndex}`));
            throw error;
          });
        }),
      ],
    };
    const records = await recordsOf(options);
    const dropped = records.findIndex((record) => record.type === 'step' && record.outcome === 'dropped');
    expect(dropped).toBeGreaterThan(0);
    for (let count = dropped + 1; count <= records.length; count++) {
      const { texts } = await resume(options, records.slice(0, count));
      // The model of the new process counts its failures from the start, so it fails twice more at most.
      const steps = records.slice(0, count).filter(({ type }) => type === 'step').length;
      expect(texts).toStartWith(`go | ${steps > 1 ? 'caught 0 | caught 1' : 'caught 0'} | `);
      expect(texts.match(/caught 0/g)).toHaveLength(1);
      expect(texts).not.toContain('before 0');
    }
  });
});

describe('Y-06 a fallback to another model', () => {
  /** The first attempt of each call fails, and the next one uses the spare model. */
  const falling = oneLayer('falling', 'model', async (ctx) => {
    const key = `falling.${ctx.extension ?? 'step'}`;
    if (ctx.metadata[key] === true) ctx.modelRef = 'Model/spare';
    delete ctx.metadata[key];
    return ctx.next().catch((error: unknown) => {
      ctx.metadata[key] = true;
      throw new GoondanError('E_MODEL_FAILED', 'The spare model takes over.', {
        cause: error,
        retryable: true,
        isFallback: true,
      });
    });
  });
  const asker = oneLayer('asker', 'turn', async (ctx) => {
    for (const question of ['one', 'two']) {
      const { content } = await ctx.model.generate({ messages: [{ role: 'user', content: question }] });
      ctx.emitMessageEvent(says(`${question}: ${JSON.stringify(content)}`));
    }
    return ctx.next();
  });
  const spare = { provider: 'scripted', model: 's', options: { script: [{ say: 'spare {{input}}' }] } };
  const options: ScriptedAgentOptions = {
    script: [{ fail: { message: 'down' } }],
    models: { 'Model/spare': spare },
    extensions: [falling, asker],
    policy: { maxStepRetries: 0 },
  };
  const whole = 'go | one: [{"type":"text","text":"spare one"}] | two: [{"type":"text","text":"spare two"}] | spare go';

  test('has its own record, so that no other call gets its reply, wherever the process was killed', async () => {
    const records = await recordsOf(options);
    for (let count = 1; count <= records.length; count++) {
      expect((await resume(options, records.slice(0, count))).texts).toBe(whole);
      // In the new process the first model works again.
      const { texts } = await resume({ ...options, script: [{ say: 'first {{input}}' }] }, records.slice(0, count));
      expect(texts).toMatch(/^go \| one: .*(first|spare) one.* \| two: .*(first|spare) two.* \| (first|spare) go$/);
    }
  });

  test('is not made again when its reply is recorded', async () => {
    const all = await recordsOf(options);
    const records = recordsUpTo(all, (record) => record.type === 'effect' && record.key.endsWith('/model/0.1'));
    const { agent, texts } = await resume(options, records);
    expect(texts).toBe(whole);
    const asked = agent.requests.map(({ messages }) => messages.at(-1)?.content);
    expect(asked).toEqual(['two', expect.anything()]);
  });
});

describe('a call to another agent', () => {
  function asking(answer: () => string) {
    const engine = inProcessEngine(systemClock);
    engine.add('helper', async () => {
      const responseMessage = createSystemMessage(answer());
      return { turnId: 'x', finishReason: 'text_response', responseMessage };
    });
    const asker = beforeNext('asker', 'turn', async (ctx) => {
      const heard = await ctx.agents.request({ target: 'helper' }).then(
        ({ response }) => response,
        (error: unknown) => (error as GoondanError).code,
      );
      await ctx.agents.send({ target: 'helper' });
      ctx.emitMessageEvent(says(`heard ${heard}`));
    });
    return { engine, options: { engine, extensions: [asker] } };
  }

  test('is not made again when it was answered, and a message is not sent twice', async () => {
    const first = asking(() => 'first');
    const records = await recordsOf(first.options);
    expect(first.engine.calls.map(({ event }) => event.id)).toEqual([
      'turn-event-1:pre/asker/agent/0',
      'turn-event-1:pre/asker/agent/1',
    ]);
    const second = asking(() => 'second');
    // The log ends before the record with which the layer's message would count. So the layer emits the message again,
    // but the recorded answers are not requested again.
    const { texts } = await resume(second.options, recordsUpTo(records, isEffect('pre/asker/agent/1')));
    expect(second.engine.calls).toEqual([]);
    expect(texts).toBe('go | heard first | You said: go');
  });

  test('fails again with the same code when it failed, without being made again', async () => {
    const first = asking(() => {
      throw new GoondanError('E_AGENT_TIMEOUT', 'too late');
    });
    const records = recordsUpTo(await recordsOf(first.options), isEffect('pre/asker/agent/0'));
    const second = asking(() => 'second');
    const { texts } = await resume(second.options, records);
    expect(second.engine.calls.map(({ event }) => event.id)).toEqual(['turn-event-1:pre/asker/agent/1']);
    expect(texts).toBe('go | heard E_AGENT_TIMEOUT | You said: go');
  });

  test('is made again with the same event id when it had started and not ended, so that it can be recognized', async () => {
    const first = asking(() => 'first');
    const records = recordsUpTo(await recordsOf(first.options), ({ type }) => type === 'intent');
    const second = asking(() => 'second');
    await resume(second.options, records);
    expect(second.engine.calls[0]?.event.id).toBe(first.engine.calls[0]?.event.id ?? '');
  });
});

const isEffect = (key: string) => (record: TurnRecord) => record.type === 'effect' && record.key === key;

describe('the layers of a resumed turn', () => {
  /** Creates an extension that records its contexts, and emits messages before and after `next()`. */
  function teller(seen: string[]) {
    return extension('teller', ({ pipeline, state }) => {
      pipeline.register('turn', async (ctx) => {
        seen.push(`turn ${ctx.resumed} ${ctx.conversationState.events.length}`);
        ctx.metadata.from = 'before';
        await state.set('before');
        ctx.emitMessageEvent(says('before'));
        const result = await ctx.next();
        seen.push(`after ${JSON.stringify(ctx.metadata)} ${JSON.stringify(await state.get())}`);
        ctx.emitMessageEvent(says('after'));
        if (ctx.inputEvent.input === 'fail' && ctx.resumed) throw new Error('failed');
        return result;
      });
      pipeline.register('step', async (ctx) => {
        seen.push(`step ${ctx.stepIndex} ${ctx.resumed}`);
        ctx.metadata.from = 'step';
        await state.set('step');
        ctx.emitMessageEvent(says('in step'));
        return ctx.next();
      });
    });
  }

  test('run again before next(), muted where the log already has their events; finished steps do not run', async () => {
    const records = recordsUpTo(await recordsOf({ extensions: [teller([])] }), ({ type }) => type === 'step');
    const seen: string[] = [];
    const { agent, texts } = await resume({ extensions: [teller(seen)] }, records);
    expect(seen).toEqual(['turn true 4', 'after {"from":"step"} "step"']);
    expect(agent.requests).toEqual([]);
    expect(texts).toBe('go | before | in step | You said: go | after');
  });

  test('are not muted when none of their events had counted yet', async () => {
    const records = recordsUpTo(await recordsOf({ extensions: [teller([])] }), ({ type }) => type === 'message');
    const seen: string[] = [];
    const { texts } = await resume({ extensions: [teller(seen)] }, records);
    expect(seen).toEqual(['turn true 1', 'step 0 true', 'after {"from":"step"} "step"']);
    expect(texts).toBe('go | before | in step | You said: go | after');
  });

  test('see resumed as false in a turn that was not interrupted', async () => {
    const seen: string[] = [];
    await resume({ extensions: [teller(seen)] }, []);
    expect(seen).toEqual(['turn false 1', 'step 0 false', 'after {"from":"step"} "step"']);
  });

  test('see the node from which the turn moved, and so do its tools', async () => {
    const seen: unknown[] = [];
    const looker = extension('looker', ({ pipeline }) => {
      pipeline.register('turn', (ctx) => (seen.push(['turn', ctx.movedFrom]), ctx.next()));
      pipeline.register('model', (ctx) => (seen.push(['model', ctx.movedFrom]), ctx.next()));
    });
    const tool: ToolDeclaration = {
      name: 'counter',
      exports: [{ name: 'add', description: 'Counts.' }],
      handlers: { add: (ctx) => void seen.push(['tool', ctx.movedFrom]) },
    };
    const options = { tools: [tool], script: counter().options.script, extensions: [looker] };
    const records = recordsUpTo(await recordsOf(options), ({ type }) => type === 'message');
    expect(seen.map(String)).toEqual(['turn,', 'model,', 'tool,', 'model,']);
    seen.length = 0;
    const inner = await interruptedStore(records);
    const store = {
      ...inner,
      open: async (...turn: Parameters<typeof inner.open>) => ({ ...(await inner.open(...turn)), movedFrom: 'one' }),
    };
    await (await scriptedAgent({ ...options, store })).say('go');
    expect(seen.map(String)).toEqual(['turn,one', 'model,one', 'tool,one', 'model,one']);
  });

  test('M-07 keep the recorded events and the state they had when they fail', async () => {
    const records = recordsUpTo(await recordsOf({ extensions: [teller([])] }, 'fail'), ({ type }) => type === 'step');
    const { agent, turn, texts } = await resume({ extensions: [teller([])] }, records, 'fail');
    expect(turn.result.finishReason).toBe('error');
    expect(texts).toBe('fail | before | in step | You said: fail | after');
    expect(await agent.stateOf('teller')).toBe('step');
  });

  test('keep the recorded state, not the one they set again, when they fail before next()', async () => {
    const records = recordsUpTo(await recordsOf({ extensions: [teller([])] }), ({ type }) => type === 'step');
    const failing = oneLayer('failing', 'turn', () => Promise.reject(new Error('failed')), { priority: 1_000 });
    const { agent, turn, texts } = await resume({ extensions: [teller([]), failing] }, records);
    expect(turn.result.error?.message).toBe('failed');
    expect(texts).toBe('go | before | in step | You said: go');
    expect(await agent.stateOf('teller')).toBe('step');
  });

  test('M-12 cannot emit after the turn’s end, even if they were muted until then', async () => {
    let isBroken = false;
    const late: (() => void)[] = [];
    const breaking = beforeNext('breaking', 'turn', (ctx) => {
      late.push(() => ctx.emitMessageEvent(says('late')));
      if (isBroken) throw new Error('broken');
    });
    const records = recordsUpTo(await recordsOf({ extensions: [breaking] }), ({ type }) => type === 'entered');
    isBroken = true;
    const { turn, texts } = await resume({ extensions: [breaking] }, records);
    expect([turn.result.finishReason, texts]).toEqual(['error', 'go']);
    expect(late[1]).toThrow('after the turn had ended');
  });
});
