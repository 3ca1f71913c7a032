/**
 * Returns true if a provider rejected a request because the conversation is too long. Providers share no error code for
 * this, so each provider's own wording is matched. The tests contain the message that each pattern was written for.
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

/** HTTP statuses with which providers reject the content of a request. */
const statuses = new Set([400, 413, 422, 500]);

export function isContextOverflow(refusal: Failure): boolean {
  if (refusal.status !== undefined && !statuses.has(refusal.status) && refusal.status >= 300) return false;
  if (refusal.codes.some((code) => codes.has(code))) return true;
  return wordings.some((wording) => wording.test(refusal.words));
}
