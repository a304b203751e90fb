package ablation

var indexerTechniques = []Technique{}
