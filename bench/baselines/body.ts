/** About as long as the response of a small route. */
export const body = {
  type: 'success',
  msg: 'OK',
  data: { id: '01KA2Z5W8Q0000000000000000', name: 'Bench', active: true, version: '1.0.0' },
}
