import { describe, expect, test } from 'bun:test';
import { extension, scriptedAgent } from '../../testing/index.ts';
import { until } from '../../../../../test/until.ts';
import { EventBus, eventsApi } from './event-bus.ts';

function openBus() {
  const failures: { event: string; error: unknown }[] = [];
  const bus = new EventBus((event, error) => failures.push({ event, error }));
  return {
    bus,
    api: eventsApi(bus, undefined, { tellStatus: () => undefined, keepSecrets: () => undefined }),
    failures,
  };
}

describe('the event bus', () => {
  test('passes every argument to every handler, in the order they subscribed', () => {
    const { api } = openBus();
    const heard: unknown[][] = [];
    api.on('tea.ready', (...args) => heard.push(['first', ...args]));
    api.on('tea.ready', (...args) => heard.push(['second', ...args]));
    api.on('coffee.ready', (...args) => heard.push(['never', ...args]));
    api.emit('tea.ready', { cups: 2 }, 'hot');
    expect(heard).toEqual([
      ['first', { cups: 2 }, 'hot'],
      ['second', { cups: 2 }, 'hot'],
    ]);
  });

  test('X-13 on() returns a function that ends this subscription and no other', () => {
    const { api } = openBus();
    const heard: string[] = [];
    const handler = () => heard.push('heard');
    const end = api.on('tea.ready', handler);
    api.on('tea.ready', handler);
    end();
    api.emit('tea.ready');
    expect(heard).toEqual(['heard']);
    end();
    api.emit('tea.ready');
    expect(heard).toEqual(['heard', 'heard']);
  });

  test('X-13 a handler may unsubscribe and subscribe while an event is delivered', () => {
    const { api } = openBus();
    const heard: string[] = [];
    const end = api.on('tea.ready', () => {
      heard.push('once');
      end();
      api.on('tea.ready', () => heard.push('added'));
    });
    api.on('tea.ready', () => heard.push('always'));
    api.emit('tea.ready');
    expect(heard).toEqual(['once', 'always']);
    api.emit('tea.ready');
    expect(heard).toEqual(['once', 'always', 'always', 'added']);
  });

  test('X-13 a handler that throws does not stop the others', () => {
    const { api, failures } = openBus();
    const heard: string[] = [];
    const error = new Error('spilled');
    api.on('tea.ready', () => {
      throw error;
    });
    api.on('tea.ready', () => heard.push('second'));
    expect(() => api.emit('tea.ready')).not.toThrow();
    expect(heard).toEqual(['second']);
    expect(failures).toEqual([{ event: 'tea.ready', error }]);
  });

  test('X-13 an async handler that rejects does not stop the others', async () => {
    const { api, failures } = openBus();
    const heard: string[] = [];
    const error = new Error('spilled later');
    // The type of a handler returns void, but authors write async handlers, too.
    const late: () => unknown = async () => {
      await Bun.sleep(0);
      throw error;
    };
    api.on('tea.ready', late);
    api.on('tea.ready', () => heard.push('second'));
    api.emit('tea.ready');
    expect(heard).toEqual(['second']);
    await until(() => failures.length > 0);
    expect(failures).toEqual([{ event: 'tea.ready', error }]);
  });

  test('an event without a handler does nothing', () => {
    expect(() => openBus().api.emit('tea.ready', 1)).not.toThrow();
  });

  test('X-14 a runtime event has one payload, which is frozen', () => {
    const { bus } = openBus();
    const heard: unknown[][] = [];
    bus.on('turn.started', (payload) => void Reflect.set(Object(payload), 'turnId', 'changed'));
    bus.on('turn.started', (...args) => heard.push(args));
    const started = { turnId: 't', agentName: 'a', instanceKey: 'i', timestamp: 'now', traceId: 'x', spanId: 'y' };
    bus.tell('turn.started', () => ({ ...started }));
    expect(heard).toEqual([[started]]);
  });

  test('a payload is made only when there is a handler or a watcher', () => {
    const { bus } = openBus();
    const end = bus.on('turn.started', () => undefined);
    end();
    bus.tell('turn.started', () => {
      throw new Error('it was made');
    });
  });
});

describe("an agent's events", () => {
  test('X-13 reach every extension of the agent, and none of another agent', async () => {
    const heard: string[] = [];
    const listener = (name: string) =>
      extension(name, ({ events }) => {
        events.on('tea.ready', (cups) => heard.push(`${name} heard of ${String(cups)}`));
      });
    const teller = extension('teller', ({ events, pipeline }) => {
      pipeline.register('turn', (ctx) => {
        events.emit('tea.ready', 2);
        return ctx.next();
      });
    });
    const agent = await scriptedAgent({ extensions: [listener('near'), teller] });
    await scriptedAgent({ extensions: [listener('far')] });
    await agent.say('hello');
    expect(heard).toEqual(['near heard of 2']);
  });
});
