/** Where a list begins when nobody says where: past every instant and every id. */
export const BEFORE_ALL = { at: '9223372036854775807', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };
