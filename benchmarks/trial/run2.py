from designs import *
from rule2 import *
import pickle,time
which,N,seed0=sys.argv[1],int(sys.argv[2]),int(sys.argv[3]); only=sys.argv[4].split(';') if len(sys.argv)>4 else None
CELLS={'random 8':('random','random',8,8,0,0),'random 25':('random','random',25,25,0,0),'WEAT x random 8':('list','random',8,8,0,0),'WEAT x random 25':('list','random',25,25,0,0),
'WEAT x 2 sub 8':('list','kids',8,8,0,2),'WEAT x 3 sub 24':('list','kids',25,24,0,3),'both 2 sub 8':('kids','kids',8,8,2,2),'both 3 sub 24':('kids','kids',24,24,3,3),
'WEAT x nested 2x3x4':('list','nested',24,24,0,(2,3,4)),'both nested 2x3x4':('nested','nested',24,24,(2,3,4),(2,3,4)),'WEAT x nested 2x2x2':('list','nested',8,8,0,(2,2,2)),
'topics x 2 sub 8':('parents','kids',8,8,0,2),'fluency 8':('fluency','fluency',8,8,0,0),'fluency 25':('fluency','fluency',25,25,0,0),'WEAT x fluency 8':('list','fluency',8,8,0,0),'WEAT x fluency 25':('list','fluency',25,25,0,0),
'both of one topic 2 sub 8':('ofone','ofone',8,8,2,2)}
w=World(which); d=D(w); G=General(w.general); print(which,'D',G.D,flush=True)
recs={'lists':[homes([np.stack([w.vec[x] for x in g]) for g in l[:2]],[np.stack([w.vec[x] for x in g]) for g in l[2:]],G) for l in w.full]}
t0=time.time()
for nm,c in CELLS.items():
    if only and nm not in only: continue
    rows=[]
    for k in range(N):
        rng=np.random.default_rng([seed0+k,sorted(CELLS).index(nm)]); h=d.homes(*c,rng); Z=[np.stack([w.vec[x] for x in y]) for y in h]
        rows.append(homes(Z[:2],Z[2:],G))
    recs[nm]=rows; print(nm,round(time.time()-t0),flush=True)
pickle.dump((G.D,recs),open(f'recs2_{which}_{seed0}.pkl','wb'))
