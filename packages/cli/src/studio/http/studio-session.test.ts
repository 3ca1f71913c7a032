import { expect, test } from 'bun:test';
import { manualClock } from '@goondan/runtime/testing';
import { StudioSession } from './studio-session.ts';

const typed = new Request('http://127.0.0.1:1/');
const refusal = expect.objectContaining({ code: 'E_STUDIO_FORBIDDEN', status: 401 });

test('a ticket works for a minute, and only the last one', async () => {
  const clock = manualClock();
  const session = new StudioSession({ port: 1, clock });
  const first = session.newTicket();
  const second = session.newTicket();
  expect(() => session.enter(first, typed)).toThrow(refusal);
  await clock.advance(59_999);
  expect(session.enter(second, typed).status).toBe(303);
  const late = session.newTicket();
  await clock.advance(60_000);
  expect(() => session.enter(late, typed)).toThrow(refusal);
  expect(session.enter(session.token, typed).status).toBe(303);
});

test('no two sessions share a secret', () => {
  const sessions = Array.from({ length: 50 }, () => new StudioSession({ port: 1 }));
  const secrets = sessions.flatMap((session) => [
    session.token,
    session.enter(session.token, typed).headers.get('set-cookie'),
  ]);
  expect(new Set(secrets).size).toBe(100);
  for (const { token } of sessions) expect(token).toMatch(/^[\w-]{43}$/);
});

test('a cookie is found among others', () => {
  const session = new StudioSession({ port: 1 });
  const [cookie = ''] = session.enter(session.token, typed).headers.get('set-cookie')?.split(';') ?? [];
  const asking = (text: string) => new Request('http://127.0.0.1:1/', { headers: { Cookie: text } });
  for (const text of [cookie, `a=b; ${cookie}`, `${cookie};c=d`, `gdn-studio-1=old; ${cookie}`]) {
    expect(session.check(asking(text))).toBeUndefined();
  }
  for (const text of [`${cookie}x`, cookie.slice(0, -1), cookie.replace('-1=', '-2='), cookie.replace('=', ' ')]) {
    expect(() => session.check(asking(text))).toThrow(refusal);
  }
});
