import { expect, test } from 'bun:test';
import { keepsSecrets, mayLeadTo } from './clear-text.ts';

test('N-01 secrets travel only encrypted, or on this machine', () => {
  const own = [
    'http://localhost:1/mcp',
    'http://127.0.0.1/',
    'http://127.8.9.1:80/',
    'http://127.1/',
    'http://[::1]:5/',
  ];
  for (const url of ['https://a.example/mcp', ...own]) expect([url, keepsSecrets(url)]).toEqual([url, true]);
  const names = [
    'a.example',
    '10.0.0.1',
    '192.168.1.1',
    'localhost.a.example',
    'a-localhost',
    '127.0.0.1.a.example',
    '[::2]',
  ];
  for (const name of names) expect([name, keepsSecrets(`http://${name}/mcp`)]).toEqual([name, false]);
  for (const url of ['http://localhost@a.example/', 'ws://localhost/', 'file:///etc'])
    expect(keepsSecrets(url)).toBe(false);
});

test('N-01 a server with TLS leads to addresses with TLS only, and a server of this machine to no other machine without it', () => {
  const leads = (server: string, to: string) => mayLeadTo(server, new URL(to));
  const to = ['https://b.example/', 'http://localhost:2/', 'http://b.example/', 'file:///bin/program'];
  for (const server of ['https://a.example/mcp', 'HTTPS://a.example/mcp'])
    expect(to.map((each) => leads(server, each))).toEqual([true, false, false, false]);
  expect(to.map((each) => leads('http://localhost:1/mcp', each))).toEqual([true, true, false, false]);
});
