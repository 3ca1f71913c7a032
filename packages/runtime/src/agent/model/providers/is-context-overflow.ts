/**
 * Whether a provider's refusal means that the conversation is too long. There is no common code for it, so each
 * provider's own words are recognised; the tests carry the sentence each pattern was made for.
 */
import type { Failure } from './describe-failure.ts';

const codes = new Set(['context_length_exceeded', 'exceed_context_size_error', 'request_too_large']);

const wordings: readonly RegExp[] = [
  // OpenAI, vLLM, OpenRouter, Mistral, Together
  /maximum context length/i,
  // Anthropic
  /prompt is too long/i,
  /exceed context limit/i,
  // Google
  /input token count.*exceeds the maximum/i,
  // llama.cpp, Ollama, LM Studio
  /exceeds? the available context size/i,
  /exceeded max context length/i,
  /context the overflows|context length of only/i,
  // Groq, text-generation-inference, OpenAI's newer models
  /reduce the length of the (messages|prompt|input)/i,
  /tokens \+ `?max_new_tokens`? must be/i,
  /exceeds the context window/i,
];

/** Statuses with which providers refuse a request for what is in it. */
const statuses = new Set([400, 413, 422, 500]);

export function isContextOverflow(refusal: Failure): boolean {
  if (refusal.status !== undefined && !statuses.has(refusal.status) && refusal.status >= 300) return false;
  if (refusal.codes.some((code) => codes.has(code))) return true;
  return wordings.some((wording) => wording.test(refusal.words));
}
