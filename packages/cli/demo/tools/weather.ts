/** `Tool/weather` gives forecasts for a few cities. It uses a table where a real tool would call a weather service. */
import { join } from 'node:path';
import type { JsonObject, ToolContext, ToolHandler } from '@goondan/types';

interface Station {
  readonly city: string;
  readonly station: string;
  /** The highest temperature of each of the next seven days, in degrees Celsius. */
  readonly highs: readonly number[];
}

const stations: readonly Station[] = [
  { city: 'Seoul', station: 'KR-108', highs: [12, 14, 11, 9, 10, 13, 15] },
  { city: 'Lisbon', station: 'PT-535', highs: [21, 22, 20, 19, 21, 23, 24] },
  { city: 'Nairobi', station: 'KE-742', highs: [25, 26, 26, 24, 25, 27, 26] },
  { city: 'Toronto', station: 'CA-508', highs: [3, 1, -2, 0, 4, 5, 2] },
];

export const handlers: Record<string, ToolHandler> = { forecast, save };

function forecast(_ctx: ToolContext, input: JsonObject): JsonObject {
  // The runtime has checked the arguments against the schema of the declaration.
  const { city: wanted, days } = input as { city: string; days: number };
  const { city, station, highs } = findStation(wanted);
  const next = highs.slice(0, days);
  const period = next.length === 1 ? 'tomorrow' : `the next ${next.length} days`;
  const summary = `${city}, ${period}: ${next.map((high) => `${high} °C`).join(', ')}.`;
  return { city, station, highs: next, summary };
}

async function save(ctx: ToolContext, input: JsonObject): Promise<JsonObject> {
  // The cast is safe: the arguments were checked, as above.
  const { text } = input as { text: string };
  const file = join(ctx.workdir, 'forecast.txt');
  await Bun.write(file, `${text}\n`);
  return { file };
}

function findStation(city: string): Station {
  const found = stations.find((station) => station.city.toLowerCase() === city.toLowerCase());
  if (found !== undefined) return found;
  // The model gets this error message as the result.
  throw new Error(`There is no forecast for ${city}, only for ${stations.map(({ city: known }) => known).join(', ')}.`);
}
