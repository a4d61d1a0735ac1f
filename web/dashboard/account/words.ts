const en = {
  title: 'My account',
  signedInAs: 'Signed in as',
  role: 'Role',
  roles: { owner: 'Owner', admin: 'Administrator', read_only: 'Read only' } as Record<
    string,
    string
  >,
  twoFactor: 'Second factor',
  isOn: 'On: each sign-in asks for a code.',
  since: 'Turned on',
  codesLeft: (count: number) => `${count} backup codes are left.`,
  isOff: 'Off. With it, a stolen password alone is not enough to sign in.',
  required: 'Your organization requires it.',
  turnOn: 'Set up',
  turnOff: 'Turn off',
  turnOffHint: 'Enter a code to turn the second factor off.',
  code: 'Code',
  turnedOn: 'The second factor is on',
  turnedOff: 'The second factor is off',
}

const de: typeof en = {
  title: 'Mein Konto',
  signedInAs: 'Angemeldet als',
  role: 'Rolle',
  roles: { owner: 'Inhaber', admin: 'Verwalter', read_only: 'Nur lesen' },
  twoFactor: 'Zweiter Faktor',
  isOn: 'An: Jede Anmeldung fragt nach einem Code.',
  since: 'Eingeschaltet',
  codesLeft: (count) => `${count} Ersatzcodes sind übrig.`,
  isOff: 'Aus. Mit ihm reicht ein gestohlenes Passwort allein nicht zur Anmeldung.',
  required: 'Ihre Organisation verlangt ihn.',
  turnOn: 'Einrichten',
  turnOff: 'Ausschalten',
  turnOffHint: 'Geben Sie einen Code ein, um den zweiten Faktor auszuschalten.',
  code: 'Code',
  turnedOn: 'Der zweite Faktor ist an',
  turnedOff: 'Der zweite Faktor ist aus',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
