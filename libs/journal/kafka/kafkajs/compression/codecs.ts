import zlib from 'node:zlib';
import { isCodedError } from '#libs/platform/process/start-fault.js';
import { messageOf } from '../../../journal-errors.js';
import { MAX_BATCH_BYTES } from '../../../limits.js';
import { unpackLz4 } from './lz4.js';
import { unpackSnappy } from './snappy.js';

/** Of one batch: the largest append, whatever stands beside its payloads, and as much again. */
export const MOST_UNPACKED_BYTES = 2 * MAX_BATCH_BYTES;

interface Codec {
  readonly name: string;
  readonly unpack: (bytes: Buffer, limit: number) => Buffer;
}

/** Of older versions of Node.js it is not known. */
const { zstdDecompressSync } = zlib as Partial<typeof zlib>;

function gunzip(bytes: Buffer, limit: number): Buffer {
  return zlib.gunzipSync(bytes, { maxOutputLength: limit });
}

/** Not damage: another process of the same cluster may well read it. */
class CodecMissing extends Error {
  override readonly name = 'CodecMissing';

  constructor() {
    super(
      `the broker has compressed it with zstd, which Node.js ${process.version} cannot read: use Node.js 24`,
    );
  }
}

function unpackZstd(bytes: Buffer, limit: number): Buffer {
  if (zstdDecompressSync === undefined) throw new CodecMissing();
  return zstdDecompressSync(bytes, { maxOutputLength: limit });
}

/** By the number that stands in a batch. */
const CODECS: readonly (Codec | undefined)[] = [
  undefined,
  { name: 'gzip', unpack: gunzip },
  { name: 'snappy', unpack: unpackSnappy },
  { name: 'lz4', unpack: unpackLz4 },
  { name: 'zstd', unpack: unpackZstd },
];

/** Undefined for what no version of Kafka knows. */
export function codecOf(number: number): Codec | undefined {
  return CODECS[number];
}

/** The bytes as they were before a broker compressed them, or why they cannot be had. */
export function unpack({ name, unpack: decode }: Codec, bytes: Buffer): Buffer | string {
  try {
    return decode(bytes, MOST_UNPACKED_BYTES);
  } catch (error) {
    if (error instanceof CodecMissing) throw error;
    const reason = isCodedError(error) ? error.message : messageOf(error);
    return `its batch, compressed with ${name}, cannot be decompressed (${reason})`;
  }
}
