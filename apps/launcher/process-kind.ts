export type ProcessKind = 'owner' | 'gateway' | 'projector' | 'executor';
