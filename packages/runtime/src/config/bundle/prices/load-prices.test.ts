import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadPrices, readPrices } from './load-prices.ts';
import { temporaryFolder } from '../../../../../../test/temporary-folder.ts';

const folder = temporaryFolder();

const file = `currency: USD
models:
  - provider: anthropic
    model: large
    input: 4
    output: 20
    cacheRead: 0.5
    source: https://example.com/prices
    date: 2026-11-17
`;

const failureOf = (read: () => unknown) => {
  try {
    return read();
  } catch (error) {
    return error;
  }
};

test('Y-03 a price file is YAML or JSON', () => {
  const prices = readPrices(file, 'prices.yaml');
  expect(prices.models[0]).toMatchObject({ model: 'large', input: 4, cacheRead: 0.5, date: '2026-11-17' });
  expect(readPrices(JSON.stringify(prices), 'prices.json')).toEqual(prices);
});

test.each([
  ['input: 4', 'input: four', 'prices.yaml:5:12: models[0].input must be a number'],
  ['model: large', 'modle: large', 'prices.yaml:4:12: models[0].modle is not a field'],
  ['    date: 2026-11-17\n', '', 'models[0].date must be the day'],
  ['output: 20', 'output: [20', 'prices.yaml:'],
])('Y-03 a mistake in a price file names file, line, column and field: %s → %s', (right, mistaken, message) => {
  expect(failureOf(() => readPrices(file.replace(right, mistaken), 'prices.yaml'))).toMatchObject({
    code: 'E_PRICES_FILE',
    message: expect.stringContaining(message),
  });
});

test('a price file that is missing, empty, or not a file is refused', () => {
  const path = join(folder, 'prices.yaml');
  expect(failureOf(() => loadPrices(path, 'prices.yaml'))).toMatchObject({ message: 'prices.yaml does not exist.' });
  writeFileSync(path, '');
  expect(failureOf(() => loadPrices(path, 'prices.yaml'))).toMatchObject({ message: 'prices.yaml is empty.' });
  expect(failureOf(() => loadPrices(folder, 'here'))).toMatchObject({ code: 'E_PRICES_FILE' });
  writeFileSync(path, file);
  expect(loadPrices(path).currency).toBe('USD');
});
