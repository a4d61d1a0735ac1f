const en = {
  title: 'Blocked senders',
  hint: (folder: string) => `Mail of these senders goes to the folder ${folder}.`,
  address: 'Address',
  block: 'Block',
  blockTitle: 'Block a sender',
  blocked: (address: string) => `${address} is blocked`,
  unblock: 'Unblock',
  unblocked: (address: string) => `${address} is no longer blocked`,
  none: 'Nobody is blocked',
  noneHint: 'Enter the address of a sender above whose mail you do not want to see.',
  count: (count: number, limit: number) => `${count} of ${limit} used`,
}

const de: typeof en = {
  title: 'Blockierte Absender',
  hint: (folder) => `Mail dieser Absender kommt in den Ordner ${folder}.`,
  address: 'Adresse',
  block: 'Blockieren',
  blockTitle: 'Einen Absender blockieren',
  blocked: (address) => `${address} ist blockiert`,
  unblock: 'Freigeben',
  unblocked: (address) => `${address} ist nicht mehr blockiert`,
  none: 'Niemand ist blockiert',
  noneHint: 'Geben Sie oben die Adresse eines Absenders ein, dessen Mail Sie nicht sehen wollen.',
  count: (count, limit) => `${count} von ${limit} belegt`,
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
