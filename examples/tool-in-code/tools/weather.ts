import { tool } from 'ai';
import { z } from 'zod';

export const getWeather = tool({
  description: 'The weather in a city.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ text: `${city}: 12 °C.` }),
});
