import { EXIT, StartFault } from '../process/start-fault.js';

export interface OptionDeclaration {
  readonly type: 'string' | 'boolean';
  /** True if it may be repeated. */
  readonly multiple?: true;
  /** The placeholder of its value in help texts. */
  readonly value?: string;
  /** The value if it is absent. */
  readonly default?: string;
  readonly text: string;
}

export type OptionTable = Readonly<Record<string, OptionDeclaration>>;

export interface Operand {
  readonly name: string;
  readonly optional?: true;
}

export interface CommandDeclaration {
  /** One or more words, such as `shard drain`. Empty for an area with a single command. */
  readonly name: string;
  readonly operands: readonly Operand[];
  readonly options: OptionTable;
  readonly summary: string;
  /** Paragraphs for the help of this command. */
  readonly explanation?: readonly string[];
  readonly examples?: readonly string[];
}

/** Commands about one subject, with shared help. */
export interface CommandArea<C extends CommandDeclaration = CommandDeclaration> {
  readonly name: string;
  readonly commands: readonly C[];
  readonly notes: readonly string[];
}

/** The parsed command line. */
export interface ParsedCall<C extends CommandDeclaration = CommandDeclaration> {
  readonly command: C;
  readonly operands: readonly string[];
  readonly options: GivenOptions;
  readonly json: boolean;
}

export const OUTPUT_OPTION = {
  output: {
    type: 'string',
    value: 'json',
    text: 'one JSON document instead of text; so is a fault, as the last line on standard error',
  },
} as const satisfies OptionTable;

export type OptionValue = string | boolean | readonly (string | boolean)[];

/** The options of a call. A missing option has its default, if any. */
export class GivenOptions {
  constructor(
    private readonly values: ReadonlyMap<string, OptionValue>,
    private readonly declared: OptionTable,
  ) {}

  text(name: string): string | undefined {
    const value = this.values.get(name);
    return typeof value === 'string' ? value : this.declared[name]?.default;
  }

  /** Undefined if the option is not given. */
  texts(name: string): readonly string[] | undefined {
    const value = this.values.get(name);
    return Array.isArray(value) ? value.map(String) : undefined;
  }

  isSet(name: string): boolean {
    return this.values.get(name) === true;
  }
}

/** The command line is invalid. `about` is the command whose `--help` would explain it, if known. */
export class UsageFault extends StartFault {
  constructor(
    message: string,
    readonly about?: string,
  ) {
    super(message, EXIT.usage);
  }
}
