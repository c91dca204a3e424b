import cProfile,pstats,sys
sys.argv=['palmette','predict',sys.argv[1],sys.argv[2],'--out','/tmp/C/out.csv']
