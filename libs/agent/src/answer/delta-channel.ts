/** Pieces of one channel's text, each with its offset in UTF-16 code units. */
export interface DeltaChannel {
  write(text: string): void;
  /** Sends what was held back. */
  end(): void;
}

function endsInHighSurrogate(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}

/** Never sends half of a surrogate pair: the first half waits for the second. A half that stays alone becomes U+FFFD, which is as long. */
export function createDeltaChannel(send: (offset: bigint, text: string) => void): DeltaChannel {
  let offset = 0;
  let held = "";
  const flush = (text: string): void => {
    if (text === "") return;
    send(BigInt(offset), text.toWellFormed());
    offset += text.length;
  };
  return {
    write(text) {
      const whole = held + text;
      held = endsInHighSurrogate(whole) ? whole.slice(-1) : "";
      flush(held === "" ? whole : whole.slice(0, -1));
    },
    end() {
      flush(held);
      held = "";
    },
  };
}
