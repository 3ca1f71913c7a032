import { describe, expect, test } from 'bun:test';
import { changeRoute, readRoute, type Route, writeRoute } from './route.ts';

describe('the address of the shown view', () => {
  const routes: Route[] = [
    {},
    { workspaceId: 'demo' },
    { workspaceId: 'demo', agent: 'concierge', instanceKey: 'default' },
    { workspaceId: 'demo-1a', agent: 'a', instanceKey: '../x/?#% é', at: 0 },
    { workspaceId: 'demo', agent: 'a', instanceKey: 'b', at: 12, turn: 'turn-1' },
    { workspaceId: 'demo', agent: 'a', instanceKey: 'b', failed: true },
  ];
  test.each(routes.map((route) => [writeRoute(route), route] as const))('%s', (hash, route) => {
    expect(readRoute(hash)).toEqual(route);
  });

  test('a change adds or removes a part', () => {
    const here = { workspaceId: 'demo', agent: 'a', instanceKey: 'b', at: 3 };
    expect(changeRoute(here, { turn: 't', at: undefined })).toStrictEqual({
      workspaceId: 'demo',
      agent: 'a',
      instanceKey: 'b',
      turn: 't',
    });
  });

  test('a key with half of a surrogate pair has an address, too', () => {
    expect(writeRoute({ workspaceId: 'demo', agent: 'a', instanceKey: 'x\ud800' })).toBe('#/demo/a/x%EF%BF%BD');
  });

  test.each([
    ['', {}],
    ['#', {}],
    ['#//a/b', {}],
    ['#/demo/a', { workspaceId: 'demo' }],
    ['#/demo/%/b', { workspaceId: 'demo', agent: '%', instanceKey: 'b' }],
    ['#/demo?at=-1', { workspaceId: 'demo' }],
    ['#/demo?at=1.5&turn=', { workspaceId: 'demo' }],
  ])('typed by hand: %p', (hash, route) => {
    expect(readRoute(hash)).toEqual(route);
  });
});
