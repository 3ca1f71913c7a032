import { expect, test } from 'bun:test';
import { readPage } from './read-page.ts';

test('a page is linked with the host that the browser asks for', () => {
  expect(readPage('https://login.example:8443/a?b=c')).toEqual({
    href: 'https://login.example:8443/a?b=c',
    host: 'login.example:8443',
  });
  // These letters look like `apple`, and are Cyrillic.
  expect(readPage('https://аррӏе.example/')?.host).toStartWith('xn--');
  expect(readPage('http://127.0.0.1:4100/back')?.host).toBe('127.0.0.1:4100');
});

test.each([
  'javascript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  'http://login.example/',
  'http://127.0.0.1.example/',
  'https://login.example@evil.example/',
  '//login.example/',
  '',
])('%p is not linked', (url) => {
  expect(readPage(url)).toBeUndefined();
});
