import type {
  CheckpointMessage,
  KlineMessage,
  LiqMessage,
  PriceMessage,
  RevertMessage,
  SwitchMessage,
  TxMessage,
} from '../generated/messages.ts'

export type TopicName = 'tx' | 'multi_tx' | 'liq' | 'kline' | 'multi_kline' | 'price'

/** The subject of a subscription. */
export type Topic = {
  readonly name: TopicName
  /** `params` of the request, without the options. */
  readonly params: readonly unknown[]
  /** Equal for what the gateway regards as the same subscription: a socket can have each only once. */
  readonly identity: string
}

export function topicOf(name: TopicName, ...rest: readonly unknown[]): Topic {
  const items = rest.map((item) => JSON.stringify(item))
  const isSet = name === 'multi_kline'
  return { name, params: [name, ...rest], identity: [name, ...(isSet ? items.sort() : items)].join(' ') }
}

/** Prices are the current value: there is nothing to resume. */
export function isResumable({ name }: Topic): boolean {
  return name !== 'price'
}

/** A push of any topic; the client always subscribes with cursors. */
export type Push = {
  readonly id: number
  readonly cursor: string
  readonly seq: number
  readonly result: PushResult
}

export type PushResult =
  | TxMessage['result']
  | LiqMessage['result']
  | KlineMessage['result']
  | PriceMessage['result']
  | RevertMessage['result']
  | SwitchMessage['result']
  | CheckpointMessage['result']

export type Rejected = {
  readonly item: string
  readonly reason: string
  readonly interval?: string
  readonly pending?: true
}

export type Acknowledgement = {
  readonly action: string
  readonly cursor?: string
  readonly recovered?: boolean
  readonly reason?: { readonly code: number; readonly message: string }
  readonly rejected?: readonly Rejected[]
}

export type RpcFailure = {
  readonly code: number
  readonly message: string
  readonly data?: {
    readonly limit?: string
    readonly option?: string
    readonly rejected?: readonly Rejected[]
  }
}
