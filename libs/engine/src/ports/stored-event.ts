/** A stored event: its encoded forge.event.v1.Event, and the kind beside it. */
export interface StoredEvent {
  readonly seq: number;
  readonly kind: string;
  readonly bytes: Uint8Array;
}
