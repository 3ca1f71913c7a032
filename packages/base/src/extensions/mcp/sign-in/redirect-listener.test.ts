import { afterEach, expect, test } from 'bun:test';
import { listenForRedirect, type RedirectListener } from './redirect-listener.ts';

let listener: RedirectListener;
afterEach(() => listener.close());

test('N-01 only the redirect with the right state counts, and only once', async () => {
  listener = listenForRedirect('the-state');
  const visit = async (query: string, init?: RequestInit) =>
    (await fetch(`${listener.redirectUrl}${query}`, init)).status;
  expect(await visit('?code=a')).toBe(400);
  expect(await visit('?code=a&state=other-one')).toBe(400);
  expect(await visit('?code=a&state=the-state', { method: 'POST' })).toBe(404);
  expect(await visit('/more?code=a&state=the-state')).toBe(404);
  expect(await visit('?code=a&state=the-state', { headers: { host: 'evil.example' } })).toBe(404);
  expect(await visit('?code=right&state=the-state')).toBe(200);
  expect(await visit('?code=late&state=the-state')).toBe(410);
  expect((await listener.arrived).get('code')).toBe('right');
});

test('N-01 nobody reaches it at another address of this machine', async () => {
  listener = listenForRedirect('the-state');
  const elsewhere = listener.redirectUrl.replace('127.0.0.1', '127.0.0.2');
  const reached = await fetch(elsewhere, { signal: AbortSignal.timeout(1_000) }).catch(() => 'not reached');
  expect(reached).toBe('not reached');
});

test('N-01 a pasted address is checked like a redirect', async () => {
  listener = listenForRedirect('the-state');
  for (const wrong of [
    '',
    'no address',
    'http://127.0.0.1/callback?code=a',
    'http://127.0.0.1/else?code=a&state=the-state',
  ]) {
    expect(listener.take(wrong)).toBe(false);
  }
  expect(listener.take(' http://127.0.0.1:9/callback?code=right&state=the-state\n')).toBe(true);
  expect(listener.take('http://127.0.0.1:9/callback?code=late&state=the-state')).toBe(false);
  expect((await listener.arrived).get('code')).toBe('right');
});

test('the page says how it ended, and can neither load nor remember anything', async () => {
  listener = listenForRedirect('the-state');
  const page = await fetch(`${listener.redirectUrl}?error=access_denied&state=the-state`);
  expect(await page.text()).toContain('The sign-in was refused.');
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect(page.headers.get('content-security-policy')).toStartWith("default-src 'none'");
});
