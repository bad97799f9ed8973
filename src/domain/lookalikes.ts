/**
 * Lookalikes per Latin letter, in upper or lower case, from the scripts used to forge token symbols. A subset of
 * Unicode's confusables; variants such as fullwidth or mathematical letters are handled by normalization. If the upper
 * and lower case look like different letters, the upper case decides, because symbols are written in capitals.
 */
const FORGERIES: Readonly<Record<string, string>> = {
  a: 'АΑɑᴀᎪꓮⲀ',
  b: 'ВЬΒƅɓʙᏴꓐⲂ',
  c: 'СᴄᏟꓚⲤ',
  d: 'ԀđðɗᴅᎠᏧꓓ',
  e: 'ЕΕᴇᎬꓰⲈ',
  f: 'ҒϜƒֆꓝ',
  g: 'ԌɡɠɢցᏀꓖ',
  h: 'НҺΗħʜհᎻᏂꓧⲎ',
  i: 'ІΙıɩɪᎥꓲⲒ',
  j: 'ЈͿᴊյᎫꓙ',
  k: 'КҜΚƙᴋᏦꓗⲔ',
  l: 'ӀłʟԼᏞꓡ',
  m: 'МΜᴍᎷꓟⲘ',
  n: 'ΝɴոꓠⲚ',
  o: '0ОΟøᴏՕ〇০߀ⵔꓳⲞ',
  p: 'РΡƥᴘᏢꓑⲢ',
  q: 'Ԛզ',
  r: 'ʀᎡᏒꓣ',
  s: 'ЅꙄꜱՏᏕᏚꓢ',
  t: 'ТΤŧƭᴛᎢꓔⲦ',
  u: 'ՍᴜꓴԱ',
  v: 'ѴʋᴠᏙꓦ',
  w: 'ԜѠωᴡᎳᏔꓪ',
  x: 'ХΧꓫⲬ',
  y: 'УҮΥγƴʏᎽꓬⲨ',
  z: 'ΖƶᴢᏃꓜⲌ',
}

/** Maps a lower-case letter of any script to the lower-case Latin letter it looks like. */
export const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  Object.entries(FORGERIES).flatMap(([latin, forgeries]) =>
    [...forgeries].map((forgery): [string, string] => [forgery.toLowerCase(), latin]),
  ),
)
