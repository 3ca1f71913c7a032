/** For tests: questions to the demo's swarm, each with the answer of its script. */
export const questions: readonly (readonly [question: string, answer: string])[] = [
  ['What is the weather in Toronto?', 'Toronto, tomorrow: 3 °C.'],
  ['the weather in lisbon, next 2 days', 'Lisbon, the next 2 days: 21 °C, 22 °C.'],
  ['weather in Atlantis', 'There is no forecast for Atlantis, only for Seoul, Lisbon, Nairobi, Toronto.'],
  ['Hello', 'You said: Hello. Ask me about the weather in Seoul, or let me book a picnic in Lisbon.'],
];
