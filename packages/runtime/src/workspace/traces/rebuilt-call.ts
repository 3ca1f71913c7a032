/** A model call of a recorded turn, rebuilt from its records: the request part by part, with their authors, and the reply. */
import type {
  JsonObject,
  JsonSchema,
  JsonValue,
  ModelMessage,
  ModelParams,
  ModelReply,
  ToolCatalogItem,
} from '@goondan/types';
import type { EventAuthor } from '../../agent/conversation/conversation-store.ts';
import type { ThrownRecord } from '../../trace/effect-record.ts';
import type { SentRequest } from '../../trace/model-request.ts';
import type { NamedLayer } from '../../trace/part-origins.ts';

export interface RebuiltCall extends Pick<SentRequest, 'provider' | 'model' | 'package'> {
  /** The key of the call. It is the same in every run that makes the same calls. */
  readonly effect: string;
  /** The run of the turn that made the call, from 0. A turn that was resumed has several runs. */
  readonly run: number;
  /** The index of the step; absent for a call by a turn layer. */
  readonly step?: number;
  readonly spanId?: string;
  /** The layer whose code made the call; absent when a step made it. */
  readonly by?: { readonly extension: string; readonly name: string };
  /** SHA-256 of the body as it was sent; for a model without a network, of the runtime's own request. */
  readonly bodyDigest: string;
  readonly request: RebuiltRequest;
  /** The model's own params and options, as far as they shape the body. */
  readonly settings?: JsonObject;
  /** The reasons why the request cannot be rebuilt, as far as they are known. */
  readonly problems: readonly PromptProblem[];
  /** Absent when the call failed, or when the reply was too long to keep. */
  readonly reply?: ModelReply;
  readonly error?: ThrownRecord;
}

export interface RebuiltRequest {
  readonly modelRef: string;
  readonly modelAuthor: PartAuthor;
  readonly messages: readonly RebuiltMessage[];
  readonly tools: readonly RebuiltTool[];
  readonly params: readonly RebuiltParam[];
  /** Who demanded that the answer fits `fields.outputSchema`; absent when the model got no schema. */
  readonly outputAuthor?: PartAuthor;
  /** The fields of the request beside messages and tools, as the model got them. */
  readonly fields: RequestFields;
}

/** `params`, and every further field of the request that shapes the body. */
export interface RequestFields {
  readonly params: ModelParams;
  readonly stableCount?: number;
  readonly outputSchema?: JsonSchema;
}

export interface RebuiltMessage {
  /** The id in the conversation; absent for a message that is only in this request. */
  readonly id?: string;
  /** For messages that are not there any more: the id of the last one, and their number. */
  readonly to?: string;
  readonly count?: number;
  readonly digest: string;
  /** Absent when the message is not there any more. */
  readonly message?: ModelMessage;
  readonly author: PartAuthor;
}

export interface RebuiltTool {
  readonly name: string;
  /** Absent when the tool was not kept. */
  readonly tool?: ToolCatalogItem;
  readonly author: PartAuthor;
}

export interface RebuiltParam {
  readonly name: string;
  /** Absent for a param that was present without a value. */
  readonly value?: JsonValue;
  readonly author: PartAuthor;
}

/**
 * The origin of a part. `prompt`: the system prompt of an agent. `conversation`: a message of the conversation, with the
 * author that `blame` names. `layer`: a layer added or changed it; `offeredBy` is present for a tool that was offered
 * before. `extension`: an extension passed it with its own call. `tool`, `agent`, `model`: the resource that has it.
 * `provider`: a default of the provider.
 */
export type PartAuthor =
  | { readonly kind: 'prompt'; readonly agent: string }
  | { readonly kind: 'conversation'; readonly author: EventAuthor; readonly turnId: string; readonly stepId?: string }
  | { readonly kind: 'layer'; readonly layer: NamedLayer; readonly offeredBy?: string }
  | { readonly kind: 'extension' | 'agent' | 'provider'; readonly name: string }
  | { readonly kind: 'tool'; readonly offeredBy: string }
  | { readonly kind: 'model'; readonly ref: string }
  | { readonly kind: 'runtime' }
  | { readonly kind: 'unknown' };

/**
 * A reason why a request is not exact. `missing`: a message or a part is not kept any more. `masked`: a secret is masked.
 * `damaged`: records are missing or do not match their digests. `package`: another version of the provider's package
 * builds the body now. `other`: everything else.
 */
export interface PromptProblem {
  readonly kind: 'missing' | 'masked' | 'damaged' | 'package' | 'other';
  readonly message: string;
}
